package tern.rpc.evidence;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Reads the processor time of the garbage collector's threads. Before Java 26, no MXBean reports this time. The class
 * finds the threads by the names that the JVM gives them. Not thread-safe: only one thread uses it.
 */
public final class CollectorThreads {

    private static final Pattern NAMES =
            Pattern.compile("GC Thread|G1 |Z(Worker|Driver|Director|Stat|Uncommitter|Unmapper)|Shenandoah");

    private final Path tasks;
    private final RunQueue runQueue;
    private List<Integer> threads = List.of(); // the collector threads' native ids

    public CollectorThreads(Path root) {
        this.tasks = root.resolve("proc/self/task");
        this.runQueue = new RunQueue(root, new ThreadIds(root));
    }

    /**
     * Looks up the threads again. This method reads a file for each thread of the process, so it should be called at
     * most once a minute.
     */
    public void find() {
        threads = NativeThreads.find(tasks, name -> NAMES.matcher(name).lookingAt());
    }

    /**
     * Returns the sum of the counters of all collector threads, or {@link RunTime#UNKNOWN} if no such thread has been
     * found.
     */
    public RunTime read() {
        RunTime sum = RunTime.UNKNOWN;
        for (int thread : threads) {
            sum = sum.plus(runQueue.read(thread));
        }
        return sum;
    }
}
