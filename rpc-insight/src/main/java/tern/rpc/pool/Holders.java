package tern.rpc.pool;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;

/**
 * The calls and threads that hold a pool's connections, that is, use them. The code that took the connection is
 * recorded for one in 64 borrowings, and for every borrowing while the pool has few free connections. At most 100
 * borrowings per second are recorded, or 500 after connections have been lost. Thread-safe.
 */
public final class Holders {

    private static final int ONE_IN = 64;
    private static final double NEARLY_ALL = 0.8;
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int STACKS_A_SECOND = 100;
    private static final int SUSPICIOUS_STACKS = 500;
    private static final int MAX_FRAMES = 256;
    private static final int MAX_LOCKING = 4; // the number of remembered statements of a transaction
    private static final StackWalker STACKS = StackWalker.getInstance();

    private final Set<Holder> held = ConcurrentHashMap.newKeySet();
    private final AtomicLong secondBegan = new AtomicLong(System.nanoTime());
    private final AtomicInteger stacks = new AtomicInteger(); // the number of stack traces recorded this second
    private volatile int size = Integer.MAX_VALUE;
    private volatile boolean suspicious;

    /**
     * One connection in use. Only the thread that uses the connection changes this object. Any thread may read it.
     */
    public static final class Holder {
        private final CallLedger call = CallLedger.current();
        private final Thread thread = Thread.currentThread();
        private final long sinceNanos;
        private volatile @Nullable StackTraceElement place;
        private volatile @Nullable String statement;
        private volatile long statementNanos;
        private volatile boolean executing;
        private volatile List<String> locking = List.of();
        private volatile long lockingNanos;

        private Holder(long sinceNanos) {
            this.sinceNanos = sinceNanos;
        }

        /**
         * The ledger of the call that took the connection; {@link CallLedger#none()} if it was taken outside of calls.
         */
        public CallLedger call() {
            return call;
        }

        /** The thread that took the connection. */
        public Thread thread() {
            return thread;
        }

        /** The time when the connection was taken, on the clock of {@link System#nanoTime()}. */
        public long sinceNanos() {
            return sinceNanos;
        }

        /** The application's innermost frame when the connection was taken; null if the frame was not recorded. */
        public @Nullable StackTraceElement place() {
            return place;
        }

        /** The last statement, without parameter values; null if there was none. */
        public @Nullable String statement() {
            return statement;
        }

        /**
         * The start of the running statement, or the end of the last statement if none is running, on the clock of
         * {@link System#nanoTime()}.
         */
        public long statementNanos() {
            return statementNanos;
        }

        /** Returns whether a statement is running. */
        public boolean isExecuting() {
            return executing;
        }

        /**
         * The last statements of the open transaction that may have locked rows or tables, the oldest first. The list
         * has at most four different statements.
         */
        public List<String> locking() {
            return locking;
        }

        /**
         * The start of the transaction's first statement that may have locked something, on the clock of {@link
         * System#nanoTime()}.
         */
        public long lockingNanos() {
            return lockingNanos;
        }

        public void begins(@Nullable String text) {
            long now = System.nanoTime();
            statement = text;
            statementNanos = now;
            executing = true;
            if (text != null && LockingStatements.mayLock(text)) {
                remember(text, now);
            }
        }

        private void remember(String text, long now) {
            List<String> known = locking;
            if (known.isEmpty()) {
                lockingNanos = now;
                locking = List.of(text);
            } else if (!known.contains(text)) {
                List<String> more = new ArrayList<>(known.size() < MAX_LOCKING ? known : known.subList(1, MAX_LOCKING));
                more.add(text);
                locking = List.copyOf(more);
            }
        }

        public void ends() {
            statementNanos = System.nanoTime();
            executing = false;
            String ended = statement;
            if (ended != null && LockingStatements.endsLocks(ended)) {
                locking = List.of();
            }
        }

        /**
         * Returns whether the connection will no longer be used: the call that took it has been answered, or its thread
         * has ended.
         */
        public boolean isAbandoned() {
            return call.isOpen() ? call.isEnded() : !thread.isAlive();
        }
    }

    /**
     * Sets the size of the pool.
     *
     * @param max the maximum number of connections
     */
    public void size(int max) {
        size = max;
    }

    /** Records that the current thread has taken a connection from the pool. */
    public Holder taken(long now) {
        Holder holder = new Holder(now);
        if (isStackWanted() && mayWalk(System.nanoTime())) {
            holder.place = STACKS.walk(Holders::applicationFrame);
        }
        held.add(holder);
        return holder;
    }

    private boolean isStackWanted() {
        return suspicious
                || held.size() + 1 >= NEARLY_ALL * size
                || ThreadLocalRandom.current().nextInt(ONE_IN) == 0;
    }

    /**
     * Returns whether another stack trace may be recorded in the current second. The limit is a number per second,
     * because a minimum interval would record only the first of several borrowings by one call.
     */
    private boolean mayWalk(long now) {
        long began = secondBegan.get();
        if (now - began >= SECOND_NANOS && secondBegan.compareAndSet(began, now)) {
            stacks.set(0);
        }
        return stacks.incrementAndGet() <= (suspicious ? SUSPICIOUS_STACKS : STACKS_A_SECOND);
    }

    private static @Nullable StackTraceElement applicationFrame(Stream<StackWalker.StackFrame> frames) {
        List<StackTraceElement> read = new ArrayList<>();
        // Frames are read one by one, because reading a whole stack is slow and is rarely needed.
        for (Iterator<StackWalker.StackFrame> each = frames.limit(MAX_FRAMES).iterator(); each.hasNext(); ) {
            StackTraceElement frame = each.next().toStackTraceElement();
            read.add(frame);
            if (ApplicationCode.isKnown(frame.getClassName())) {
                StackTraceElement first = ApplicationCode.first(read.toArray(StackTraceElement[]::new));
                if (first != null) {
                    return first;
                }
            }
        }
        return ApplicationCode.first(read.toArray(StackTraceElement[]::new));
    }

    public void returned(Holder holder) {
        held.remove(holder);
    }

    /** Raises the limit on recorded stack traces of borrowings, because a connection seems to have leaked. */
    public void suspect() {
        suspicious = true;
    }

    public List<Holder> all() {
        return List.copyOf(held);
    }
}
