package tern.rpc.diagnosis.machine;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.RunTime;
import tern.rpc.evidence.ThreadIds;

/**
 * Detects pauses of the whole process. A thread repeatedly sleeps for 10 ms. If the thread wakes up more than 20 ms
 * late, the delay is recorded as a pause of all threads. The thread's wait for a processor is subtracted first.
 * Thread-safe.
 */
public final class HiccupMeter {

    private static final long SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int MAX_PAUSES = 4_096;

    /** The minimum length of a current pause that is reported before the meter's thread has recorded it. */
    private static final long MIN_UNRECORDED_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ThreadIds ids = new ThreadIds(Path.of("/"));
    private final RunQueue runQueue = new RunQueue(Path.of("/"), ids);
    private final Deque<Stop> stops = new ArrayDeque<>(); // guarded by this
    private volatile long dueNanos; // when the meter's thread should wake up; 0 while it does not measure
    private volatile long cpuNanos; // the processor time of the process before the current sleep
    private volatile @Nullable Thread thread;

    /**
     * A pause of all threads.
     *
     * @param cpuNanos the processor time that the process used during the pause
     */
    public record Stop(long fromNanos, long toNanos, long cpuNanos) {}

    void start() {
        Thread started = new Thread(this::run, "rpc-pauses");
        started.setDaemon(true);
        thread = started;
        started.start();
    }

    void stop() {
        Thread running = thread;
        thread = null;
        dueNanos = 0;
        LockSupport.unpark(running);
    }

    private void run() {
        while (thread == Thread.currentThread()) {
            try {
                measure();
            } catch (OutOfMemoryError e) {
                // The thread must survive an OutOfMemoryError, because the measured pauses are especially useful when
                // memory is exhausted.
                LockSupport.parkNanos(this, SLEEP_NANOS);
            }
        }
    }

    private void measure() {
        ids.register();
        RunTime waited = runQueue.of(Thread.currentThread());
        cpuNanos = MachineWatch.processNanos();
        while (thread == Thread.currentThread()) {
            long due = System.nanoTime() + SLEEP_NANOS;
            dueNanos = due;
            LockSupport.parkNanos(this, SLEEP_NANOS);
            long over = System.nanoTime() - due;
            if (over > MIN_PAUSE_NANOS && thread != null) {
                RunTime now = runQueue.of(Thread.currentThread());
                long delay = Math.max(0, now.since(waited).delayNanos());
                long used = MachineWatch.processNanos();
                // Waits for a processor on a busy machine are subtracted, because they are not pauses of the whole
                // process.
                if (now.isKnown() && over - delay > MIN_PAUSE_NANOS) {
                    add(new Stop(due, due + over - delay, used - cpuNanos));
                }
                waited = now;
                cpuNanos = used;
            } else if (over > 0) {
                cpuNanos = MachineWatch.processNanos();
            }
        }
        dueNanos = 0;
    }

    /**
     * Returns the recorded pauses, and the current pause if the meter's thread has not run since the pause began. When
     * a stopped process continues, the diagnosis thread may run before the meter's thread. If the current pause were
     * missing, the diagnosis would report the operations that calls waited for when the process was stopped.
     */
    private synchronized List<Stop> known(long now) {
        List<Stop> known = new ArrayList<>(stops);
        long due = dueNanos;
        // The meter's thread records a pause shortly before it sleeps again.
        boolean isRecorded = !stops.isEmpty() && stops.getLast().fromNanos == due;
        if (due != 0 && !isRecorded && now - due > MIN_UNRECORDED_NANOS) {
            known.add(new Stop(due, now, MachineWatch.processNanos() - cpuNanos));
        }
        return known;
    }

    /** Sets the time when the meter's thread should wake up. */
    public void sleepsUntil(long due) {
        dueNanos = due;
        cpuNanos = MachineWatch.processNanos();
    }

    public synchronized void add(Stop stop) {
        stops.addLast(stop);
        if (stops.size() > MAX_PAUSES) {
            stops.removeFirst();
        }
    }

    /** Returns the pauses that ended within the given period. */
    synchronized List<Stop> ended(long fromNanos, long toNanos) {
        return stops.stream()
                .filter(stop -> stop.toNanos - fromNanos > 0 && stop.toNanos - toNanos <= 0)
                .toList();
    }

    /**
     * Returns the pauses within the given period that no garbage collection caused. A pause is attributed
     * to the JVM if the process used processor time for more than a quarter of the pause. Otherwise it is attributed to
     * a cause outside the process.
     */
    public Times between(long fromNanos, long toNanos, PauseTimes collections) {
        Times times = new Times();
        for (Stop stop : known(System.nanoTime())) {
            long from = Math.max(stop.fromNanos, fromNanos);
            long to = Math.min(stop.toNanos, toNanos);
            if (to <= from) {
                continue;
            }
            double left = (to - from) - collections.between(from, to).sum();
            boolean burned = stop.cpuNanos > (stop.toNanos - stop.fromNanos) / 4;
            times.add(Part.of(burned ? Part.Kind.JVM_PAUSE : Part.Kind.OUTSIDE), left);
        }
        return times;
    }
}
