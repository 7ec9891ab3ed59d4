package tern.rpc.evidence;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the processor time of the JVM's own threads. Before Java 26, no MXBean reports this time. The class finds the
 * threads by the names that the JVM gives them. Not thread-safe: only one thread uses it.
 */
public final class JvmThreads {

    /** The purpose of a JVM thread. */
    public enum Work {
        COLLECTOR("GC Thread|G1 |Z(Worker|Driver|Director|Stat|Uncommitter|Unmapper)|Shenandoah"),
        COMPILER("C[12] Compiler|JVMCI"),
        /** Runs safepoint operations: thread dumps, deoptimization, and collections by the serial collector. */
        VM("VM Thread");

        private final Pattern names;

        Work(String names) {
            this.names = Pattern.compile(names);
        }

        private boolean isNamed(String name) {
            return names.matcher(name).lookingAt();
        }
    }

    private final Path tasks;
    private final RunQueue runQueue;
    private Map<Integer, Work> threads = Map.of();

    public JvmThreads(Path root) {
        this.tasks = root.resolve("proc/self/task");
        this.runQueue = new RunQueue(root, new ThreadIds(root));
    }

    /**
     * Looks up the threads again. This method reads a file for each thread of the process, so it should be called at
     * most once a minute.
     */
    public void find() {
        Map<Integer, Work> found = new HashMap<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(tasks)) {
            for (Path folder : folders) {
                Work work = work(folder);
                if (work != null) {
                    found.put(Integer.parseInt(folder.getFileName().toString()), work);
                }
            }
        } catch (IOException | RuntimeException e) {
            found.clear(); // The process does not run on Linux, or is not allowed to read its own task files.
        }
        threads = found;
    }

    /**
     * Returns the counters of the threads found, by their purpose. The map contains no entry for a purpose without
     * threads.
     */
    public Map<Work, RunTime> read() {
        Map<Work, RunTime> sums = new EnumMap<>(Work.class);
        threads.forEach((id, work) -> sums.merge(work, runQueue.read(id), RunTime::plus));
        return sums;
    }

    private static @Nullable Work work(Path folder) {
        String name;
        try {
            name = Files.readString(folder.resolve("comm"), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return null; // The thread has ended.
        }
        for (Work work : Work.values()) {
            if (work.isNamed(name)) {
                return work;
            }
        }
        return null;
    }
}
