package tern.rpc.evidence;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Reads how long threads ran and how long they waited for a processor. The kernel always maintains both counters. The
 * counters of a running thread lag behind by up to one tick. Thread-safe.
 */
public final class RunQueue {

    private final Path tasks;
    private final ThreadIds ids;

    /**
     * @param root the folder that contains {@code proc}; {@code /} in production
     */
    public RunQueue(Path root, ThreadIds ids) {
        this.tasks = root.resolve("proc/self/task");
        this.ids = ids;
    }

    /** Returns the thread's counters since the thread started. */
    public RunTime of(Thread thread) {
        int id = ids.of(thread);
        return id == ThreadIds.UNKNOWN || !thread.isAlive() ? RunTime.UNKNOWN : read(id);
    }

    /** Returns the counters of a native thread since the thread started. */
    RunTime read(int nativeId) {
        try (InputStream in =
                new FileInputStream(tasks.resolve(nativeId + "/schedstat").toFile())) {
            // The file contains only three numbers of up to 20 digits, so the buffer is large enough.
            byte[] text = new byte[80];
            int length = in.read(text);
            return length <= 0 ? RunTime.UNKNOWN : parse(new String(text, 0, length, StandardCharsets.ISO_8859_1));
        } catch (IOException | SecurityException e) {
            return RunTime.UNKNOWN; // The thread has ended, or this is not Linux.
        }
    }

    /** Parses a line such as {@code 583071673 2307268098 39}. */
    private static RunTime parse(String text) {
        long run = Figures.field(text, 0);
        long delay = Figures.field(text, 1);
        long turns = Figures.field(text, 2);
        return run < 0 || delay < 0 || turns < 0 ? RunTime.UNKNOWN : new RunTime(run, delay, turns);
    }
}
