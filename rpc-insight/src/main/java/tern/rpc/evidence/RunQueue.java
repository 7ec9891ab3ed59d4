package tern.rpc.evidence;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the time that threads ran and the time that they waited for a processor. The kernel always counts both. A
 * running thread's figures lag by up to a tick. Thread-safe.
 */
public final class RunQueue {

    private static final int MAX_THREADS = 8_192;

    private final Path tasks;
    private final ThreadIds ids;
    private final Map<Long, RunTime> last = new HashMap<>(); // by thread id; guarded by this

    /**
     * @param root the folder that contains {@code proc}; {@code /} in production
     */
    public RunQueue(Path root, ThreadIds ids) {
        this.tasks = root.resolve("proc/self/task");
        this.ids = ids;
    }

    /** Counters since the thread started. */
    public RunTime of(Thread thread) {
        int id = ids.of(thread);
        return id == ThreadIds.UNKNOWN || !thread.isAlive() ? RunTime.UNKNOWN : read(id);
    }

    /** The change since the last call with this thread; {@link RunTime#UNKNOWN} at the first call. */
    public synchronized RunTime delaySince(Thread thread) {
        RunTime now = of(thread);
        RunTime before = last.getOrDefault(thread.getId(), RunTime.UNKNOWN);
        if (now.isKnown()) {
            if (last.size() >= MAX_THREADS) {
                last.clear(); // removes ended threads; the next call starts again for the live ones
            }
            last.put(thread.getId(), now);
        } else {
            last.remove(thread.getId());
        }
        return now.since(before);
    }

    /** The changes of all threads of a group since the last call; {@code delayPerSlice} is their mean. */
    public RunTime delaySince(Collection<Thread> group) {
        RunTime sum = RunTime.UNKNOWN;
        for (Thread thread : group) {
            sum = sum.plus(delaySince(thread));
        }
        return sum;
    }

    /** Counters of a native thread since it started. */
    RunTime read(int nativeId) {
        try (InputStream in =
                new FileInputStream(tasks.resolve(nativeId + "/schedstat").toFile())) {
            byte[] text = new byte[80]; // three numbers of up to 20 digits
            int length = in.read(text);
            return length <= 0 ? RunTime.UNKNOWN : parse(new String(text, 0, length, StandardCharsets.ISO_8859_1));
        } catch (IOException | SecurityException e) {
            return RunTime.UNKNOWN; // the thread has ended, or this is another system
        }
    }

    /** {@code 583071673 2307268098 39}. */
    private static RunTime parse(String text) {
        long run = Figures.field(text, 0);
        long delay = Figures.field(text, 1);
        long slices = Figures.field(text, 2);
        return run < 0 || delay < 0 || slices < 0 ? RunTime.UNKNOWN : new RunTime(run, delay, slices);
    }
}
