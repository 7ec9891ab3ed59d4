package tern.rpc.evidence;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Maps platform threads to their native ids. Does not keep ended threads in memory. Thread-safe. */
public final class ThreadIds {

    /** The id returned if a thread is virtual, if its native id is unknown, or if the process does not run on Linux. */
    public static final int UNKNOWN = -1;

    private static final int MAX_THREADS = 8_192;

    private record Native(WeakReference<Thread> thread, int id) {

        boolean isAlive() {
            Thread known = thread.get();
            return known != null && known.isAlive();
        }
    }

    private final Path proc;
    private final Map<Long, Native> natives = new ConcurrentHashMap<>();
    private volatile @Nullable String carriers; // the name of a carrier thread; null if no virtual thread serves calls

    /** @param root the folder that contains {@code proc}; {@code /} in production */
    public ThreadIds(Path root) {
        this.proc = root.resolve("proc");
    }

    /** Finds the native id of the current thread. Queries the kernel only once per thread. */
    public int register() {
        Thread thread = Thread.currentThread();
        Native known = natives.get(thread.getId());
        if (known != null) {
            return known.id;
        }
        boolean isVirtual = VirtualThreads.isVirtual(thread);
        if (isVirtual && carriers == null) {
            carriers = VirtualThreads.carrierOf(thread);
        }
        int id = isVirtual ? UNKNOWN : askKernel();
        if (id != UNKNOWN) {
            put(thread, id);
        }
        return id;
    }

    /**
     * Returns a thread's native id.
     *
     * @return {@link #UNKNOWN} if the thread has not registered itself
     */
    public int of(Thread thread) {
        Native known = natives.get(thread.getId());
        return known == null ? UNKNOWN : known.id;
    }

    /**
     * Returns the name of a carrier thread on which a virtual thread has served a call; null if virtual threads serve no
     * calls.
     */
    @Nullable
    String carriers() {
        return carriers;
    }

    /** Returns the native ids of at most the given number of registered threads that are still alive. */
    List<Integer> alive(int most) {
        return natives.values().stream()
                .filter(Native::isAlive)
                .map(Native::id)
                .limit(most)
                .toList();
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
}
