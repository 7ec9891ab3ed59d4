package tern.rpc.evidence;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Adds up the run times of the threads that serve calls, and their waits for a processor. Not thread-safe: only one
 * thread uses it.
 */
public final class ServingThreads {

    /** The maximum number of threads. Reading the counters of one thread takes about 10 µs. */
    private static final int MAX_THREADS = 256;

    private final ThreadIds ids;
    private final RunQueue runQueue;
    private Map<Integer, RunTime> last = Map.of(); // the last counters by native id
    private RunTime sum = new RunTime(0, 0, 0);

    /**
     * @param root the folder that contains {@code proc}; {@code /} in production
     * @param ids the threads that have served a call
     */
    public ServingThreads(Path root, ThreadIds ids) {
        this.ids = ids;
        this.runQueue = new RunQueue(root, ids);
    }

    /**
     * Returns the sum of the threads' times since the first call to this method. The time of each thread counts from
     * its first reading.
     */
    public RunTime read() {
        Map<Integer, RunTime> now = new HashMap<>();
        for (int id : ids.alive(MAX_THREADS)) {
            RunTime time = runQueue.read(id);
            if (time.isKnown()) {
                now.put(id, time);
                sum = sum.plus(time.since(last.getOrDefault(id, RunTime.UNKNOWN)));
            }
        }
        last = now;
        return sum;
    }
}
