package tern.rpc.evidence;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Maps platform threads to their native ids. Does not keep ended threads in memory. Thread-safe. */
public final class ThreadIds {

    /** The id returned if a thread is virtual, if its native id is unknown, or if the process does not run on Linux. */
    public static final int UNKNOWN = -1;

    private static final int MAX_THREADS = 8_192;

    /** The maximum length of a thread's name in the kernel. */
    private static final int NAME_LENGTH = 15;

    private record Native(WeakReference<Thread> thread, int id) {

        boolean isAlive() {
            Thread known = thread.get();
            return known != null && known.isAlive();
        }
    }

    private final Path proc;
    private final Map<Long, Native> natives = new ConcurrentHashMap<>();

    /** @param root the folder that contains {@code proc}; {@code /} in production */
    public ThreadIds(Path root) {
        this.proc = root.resolve("proc");
    }

    /** Finds the native id of the current thread. Asks the kernel only once per thread. */
    public int register() {
        Thread thread = Thread.currentThread();
        Native known = natives.get(thread.getId());
        if (known != null) {
            return known.id;
        }
        int id = VirtualThreads.isVirtual(thread) ? UNKNOWN : askKernel();
        if (id != UNKNOWN) {
            put(thread, id);
        }
        return id;
    }

    /**
     * Returns a thread's native id.
     *
     * @return {@link #UNKNOWN} if the thread neither registered itself nor was matched by its name
     */
    public int of(Thread thread) {
        Native known = natives.get(thread.getId());
        return known == null ? UNKNOWN : known.id;
    }

    /**
     * Finds the native ids of unregistered threads by their names. The kernel shortens names to 15 characters. A thread
     * is skipped if its shortened name is shared by another given thread or by another unmatched thread of the process.
     * This method reads one small file for each unmatched thread of the process, so it should be called rarely.
     *
     * @return the number of threads found
     */
    public int match(Collection<Thread> threads) {
        Map<String, List<Thread>> wanted = new HashMap<>();
        for (Thread thread : threads) {
            if (!VirtualThreads.isVirtual(thread)) {
                wanted.computeIfAbsent(shortName(thread.getName()), name -> new ArrayList<>())
                        .add(thread);
            }
        }
        Map<String, List<Integer>> found = unmatched();
        int matched = 0;
        for (Map.Entry<String, List<Thread>> entry : wanted.entrySet()) {
            List<Integer> ids = found.getOrDefault(entry.getKey(), List.of());
            Thread thread = entry.getValue().get(0);
            if (entry.getValue().size() == 1 && ids.size() == 1 && of(thread) == UNKNOWN) {
                put(thread, ids.get(0));
                matched++;
            }
        }
        return matched;
    }

    int size() {
        return natives.size();
    }

    private int askKernel() {
        try {
            // The symbolic link /proc/thread-self points to PID/task/TID.
            Path target = Files.readSymbolicLink(proc.resolve("thread-self"));
            return Integer.parseInt(target.getFileName().toString());
        } catch (IOException | RuntimeException e) {
            return UNKNOWN; // The process does not run on Linux, or is not allowed to read its own task files.
        }
    }

    private void put(Thread thread, int id) {
        if (natives.size() >= MAX_THREADS) {
            natives.values().removeIf(known -> !known.isAlive());
        }
        if (natives.size() < MAX_THREADS) {
            natives.put(thread.getId(), new Native(new WeakReference<>(thread), id));
        }
    }

    private Map<String, List<Integer>> unmatched() {
        Set<Integer> matched = new HashSet<>();
        natives.values().stream().filter(Native::isAlive).forEach(known -> matched.add(known.id));
        Map<String, List<Integer>> names = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(proc.resolve("self/task"))) {
            for (Path task : tasks) {
                int id = Integer.parseInt(task.getFileName().toString());
                if (!matched.contains(id)) {
                    names.computeIfAbsent(name(task), name -> new ArrayList<>()).add(id);
                }
            }
        } catch (IOException | RuntimeException e) {
            return Map.of(); // The process does not run on Linux, or is not allowed to read its own task files.
        }
        return names;
    }

    /** Returns a task's name; empty if the thread ends while the task folder is read. */
    private static String name(Path task) {
        try {
            return Files.readString(task.resolve("comm")).strip();
        } catch (IOException e) {
            return "";
        }
    }

    private static String shortName(String name) {
        return (name.length() <= NAME_LENGTH ? name : name.substring(0, NAME_LENGTH)).strip();
    }
}
