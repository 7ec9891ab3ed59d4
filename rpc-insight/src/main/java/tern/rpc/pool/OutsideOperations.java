package tern.rpc.pool;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;

/**
 * The operations of threads that serve no call, such as the renewal of a token by a scheduled job. If such a job stops,
 * calls often run the job's operation themselves. The diagnosis can then name the job. Thread-safe.
 */
public final class OutsideOperations {

    private static final int MAX_NAMES = 256;
    private static final long UNKNOWN = -1;
    private static final ConcurrentMap<String, Series> KNOWN = new ConcurrentHashMap<>();

    /** The minimum time between two searches for the least recently run operation. */
    private static final long BETWEEN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final AtomicLong FORGOT = new AtomicLong(System.nanoTime() - BETWEEN_NANOS);

    private OutsideOperations() {}

    /**
     * A current or recent operation of a thread that serves no call.
     *
     * @param name the name of the operation
     * @param threadName the name of the thread that ran it last
     * @param thread this thread; null if it has ended
     */
    public record Recent(
            String name, String threadName, @Nullable Thread thread) {}

    /**
     * The current time of an operation outside of calls.
     *
     * @param name the name of the operation
     * @param threadName the name of the thread that ran it last
     * @param nanos the weighted mean of its last times
     */
    public record Timed(Phase kind, String name, String threadName, double nanos) {

        /** Returns a map key that consists of the kind and the name of the operation. */
        public String key() {
            return OutsideOperations.key(kind, name);
        }
    }

    /**
     * Records that the current thread begins an operation outside of calls. The thread must call {@link #ran} with the
     * same name at its end.
     */
    public static void begins(Phase kind, @Nullable String name) {
        Series series = name == null ? null : series(kind, name);
        if (series != null) {
            series.begins();
        }
    }

    /** Records that the current thread has run an operation outside of calls. */
    public static void ran(Phase kind, @Nullable String name) {
        ran(kind, name, UNKNOWN);
    }

    /**
     * Records that the current thread has run an operation outside of calls.
     *
     * @param tookNanos the time of the operation
     */
    public static void ran(Phase kind, @Nullable String name, long tookNanos) {
        Series series = name == null ? null : series(kind, name);
        if (series != null) {
            series.ran(System.nanoTime(), tookNanos);
        }
    }

    private static String key(Phase kind, String name) {
        return kind + " " + name;
    }

    /**
     * Returns the executions of an operation; null if the operation is new and too many other operations are already
     * known.
     */
    private static @Nullable Series series(Phase kind, String name) {
        String key = key(kind, name);
        Series series = KNOWN.get(key);
        if (series != null) {
            return series;
        }
        if (KNOWN.size() >= MAX_NAMES) {
            forgetOldest();
        }
        return KNOWN.size() >= MAX_NAMES ? null : KNOWN.computeIfAbsent(key, unknown -> new Series(kind, name));
    }

    /** Forgets the least recently run operation, such as a statement that ran only at startup. */
    private static void forgetOldest() {
        long now = System.nanoTime();
        long before = FORGOT.get();
        if (now - before < BETWEEN_NANOS || !FORGOT.compareAndSet(before, now)) {
            return;
        }
        KNOWN.entrySet().stream()
                .max(Comparator.comparingLong(entry -> entry.getValue().idleNanos(now)))
                .ifPresent(oldest -> KNOWN.remove(oldest.getKey(), oldest.getValue()));
    }

    /**
     * Returns an operation of the given kind whose beginning was recorded with {@link #begins}, and that is running or
     * ended within the last 10 s; null if there is none.
     *
     * @param isWanted selects operations by their names
     */
    public static @Nullable Recent recent(Phase kind, Predicate<String> isWanted, long now) {
        String prefix = kind + " ";
        for (Map.Entry<String, Series> entry : KNOWN.entrySet()) {
            String name = entry.getKey().startsWith(prefix) ? entry.getKey().substring(prefix.length()) : "";
            if (!name.isEmpty() && isWanted.test(name) && entry.getValue().isRecent(now)) {
                return entry.getValue().recent(name);
            }
        }
        return null;
    }

    /** Returns the executions of an operation outside of calls; null if there were none. */
    public static @Nullable Series of(Phase kind, String name) {
        return KNOWN.get(key(kind, name));
    }

    /** Returns the operations whose times were recorded and that ended within the last 10 s. */
    public static List<Timed> timed(long now) {
        List<Timed> timed = new ArrayList<>();
        for (Series series : KNOWN.values()) {
            Timed known = series.timed(now);
            if (known != null) {
                timed.add(known);
            }
        }
        return timed;
    }

    /** Forgets all operations. */
    public static void clear() {
        KNOWN.clear();
        FORGOT.set(System.nanoTime() - BETWEEN_NANOS);
    }

    /** The executions of one operation by threads that serve no call. Thread-safe. */
    public static final class Series {

        /** The usual pause between two executions counts as known after {@value} executions. */
        private static final int MIN_TIMES = 5;

        private static final double WEIGHT = 0.1;

        /** The weight of the last execution in the mean of the current times. */
        private static final double TOOK_WEIGHT = 0.3;

        /** A pause between two executions counts as too long if it is at least {@value} times the usual pause. */
        private static final double LATE = 3;

        /** After {@value} consecutive long pauses, long pauses count as usual, and the usual pause is adapted. */
        private static final int MAX_LATE = 20;

        /**
         * Two recorded executions that end within 5 ms count as one, because two wrappers may measure the same
         * execution.
         */
        private static final long SAME_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

        private static final long MIN_LATE_NANOS = TimeUnit.SECONDS.toNanos(2);
        private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(30);
        /** An operation can count as periodic only if its usual pause is at least {@value} ns. */
        private static final double MIN_USUAL_NANOS = 5e8;

        /**
         * The job that runs an operation is assumed to have ended if a pause lasts for at least {@value} times the
         * usual pause.
         */
        private static final double MAX_PAUSES = 100;

        private static final long RECENT_NANOS = TimeUnit.SECONDS.toNanos(10);

        private final Phase kind;
        private final String operation;

        // The lock on this object guards the following fields.
        private double tookNanos = UNKNOWN; // the weighted mean of the durations of the last executions
        private boolean begun; // whether the beginnings of executions are recorded, and not only their ends
        private int running;
        private int times;
        private int late;
        private double usualNanos;
        private long lastNanos;
        private long lateNanos; // the length of the last pause that was too long
        private long lateEndedNanos; // the end of the last pause that was too long
        private WeakReference<Thread> thread = new WeakReference<>(null);
        private String name = "";

        private Series(Phase kind, String operation) {
            this.kind = kind;
            this.operation = operation;
        }

        /**
         * An overlong pause between two executions. The pause may still be going on.
         *
         * @param nanos the length of the pause
         * @param usualNanos the usual length
         * @param lasts whether the pause is still going on
         * @param threadName the name of the thread that ran the operation last
         * @param thread this thread; null if it has ended
         */
        public record Pause(
                long nanos,
                double usualNanos,
                boolean lasts,
                String threadName,
                @Nullable Thread thread) {}

        synchronized void begins() {
            begun = true;
            running++;
            thread = new WeakReference<>(Thread.currentThread());
            name = Thread.currentThread().getName();
        }

        private synchronized boolean isRecent(long now) {
            return running > 0 || (begun && times > 0 && now - lastNanos < RECENT_NANOS);
        }

        private synchronized long idleNanos(long now) {
            return running > 0 || times == 0 ? 0 : now - lastNanos;
        }

        private synchronized @Nullable Timed timed(long now) {
            return tookNanos < 0 || now - lastNanos > RECENT_NANOS ? null : new Timed(kind, operation, name, tookNanos);
        }

        private synchronized Recent recent(String operation) {
            Thread known = thread.get();
            return new Recent(operation, name, known != null && known.isAlive() ? known : null);
        }

        synchronized void ran(long now, long took) {
            if (took >= 0) {
                tookNanos = tookNanos < 0 ? took : tookNanos + TOOK_WEIGHT * (took - tookNanos);
            }
            running = Math.max(0, running - 1);
            long pause = now - lastNanos;
            if (times > 0 && pause < SAME_NANOS) {
                return;
            }
            boolean isLate = isLate(pause);
            if (isLate && late < MAX_LATE) {
                late++;
                lateNanos = pause;
                lateEndedNanos = now;
            } else if (times > 0) {
                late = isLate ? late : 0;
                usualNanos = times == 1 ? pause : usualNanos + WEIGHT * (pause - usualNanos);
            }
            times++;
            lastNanos = now;
            thread = new WeakReference<>(Thread.currentThread());
            name = Thread.currentThread().getName();
        }

        private boolean isLate(long pause) {
            return times >= MIN_TIMES && pause >= MIN_LATE_NANOS && pause >= LATE * usualNanos;
        }

        /**
         * Returns the current pause between two executions if the current pause is too long. Otherwise returns the last
         * pause that was too long, if that pause ended within the last 30 s. Returns null if there is no such pause.
         */
        public synchronized @Nullable Pause tooLong(long now) {
            Thread known = thread.get();
            Thread alive = known != null && known.isAlive() ? known : null;
            if (usualNanos < MIN_USUAL_NANOS) {
                return null; // the operation is not periodic: a job ran it many times in succession
            }
            if (isLate(now - lastNanos) && now - lastNanos <= MAX_PAUSES * usualNanos && alive != null) {
                return new Pause(now - lastNanos, usualNanos, true, name, alive);
            }
            boolean isRecent = lateNanos > 0 && now - lateEndedNanos < KEPT_NANOS;
            return isRecent ? new Pause(lateNanos, usualNanos, false, name, alive) : null;
        }
    }
}
