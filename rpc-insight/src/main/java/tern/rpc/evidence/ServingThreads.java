package tern.rpc.evidence;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Adds up the run times of the threads that serve calls, and their waits for a processor. If virtual threads serve
 * calls, the times of their carrier threads are added up instead. Not thread-safe: only one thread uses it.
 */
public final class ServingThreads {

    /** The maximum number of threads. Reading the counters of one thread takes about 10 µs. */
    private static final int MAX_THREADS = 256;

    /** The carrier threads are looked up again after {@value} readings. */
    private static final int READINGS_BETWEEN_SEARCHES = 60;

    private static final Pattern NUMBER = Pattern.compile("\\d+$");

    private final Path tasks;
    private final ThreadIds ids;
    private final RunQueue runQueue;
    private Map<Integer, RunTime> last = Map.of(); // the counters at the last reading, by native id
    private List<Integer> carriers = List.of(); // the native ids of the carrier threads of virtual threads
    private int untilSearch;
    private RunTime sum = new RunTime(0, 0, 0);

    /**
     * @param root the folder that contains {@code proc}; {@code /} in production
     * @param ids the threads that have served a call
     */
    public ServingThreads(Path root, ThreadIds ids) {
        this.tasks = root.resolve("proc/self/task");
        this.ids = ids;
        this.runQueue = new RunQueue(root, ids);
    }

    /**
     * Returns how long all threads together have run, and waited for a processor, since this method was first called.
     * The time before a thread's first reading does not count.
     */
    public RunTime read() {
        Map<Integer, RunTime> now = new HashMap<>();
        List<Integer> serving = new ArrayList<>(ids.alive(MAX_THREADS));
        serving.addAll(carriers());
        for (int id : serving) {
            RunTime time = runQueue.read(id);
            if (time.isKnown()) {
                now.put(id, time);
                sum = sum.plus(time.since(last.getOrDefault(id, RunTime.UNKNOWN)));
            }
        }
        last = now;
        return sum;
    }

    /** Returns the native ids of the carrier threads, if virtual threads serve calls. */
    private List<Integer> carriers() {
        String name = ids.carriers();
        if (name != null && untilSearch-- <= 0) {
            untilSearch = READINGS_BETWEEN_SEARCHES;
            String group = NUMBER.matcher(name).replaceFirst("");
            String known = group.substring(0, Math.min(group.length(), NativeThreads.NAME_LENGTH));
            carriers = NativeThreads.find(tasks, known::equals).stream()
                    .limit(MAX_THREADS)
                    .toList();
        }
        return carriers;
    }
}
