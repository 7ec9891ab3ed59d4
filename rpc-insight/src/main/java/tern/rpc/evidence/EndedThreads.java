package tern.rpc.evidence;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.evidence.VirtualStacks.Stack;

/**
 * Finds threads that have ended but still own locks. A query by thread id returns nothing for an ended thread, and
 * nothing for a virtual thread either. To distinguish the two cases, this class lists the virtual threads, if the JVM
 * has virtual threads. If the JVM cannot list them safely, no thread counts as ended. Thread-safe.
 */
public final class EndedThreads {

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int COST_FACTOR = 100;
    private static final int MAX_ENDED = 256;

    /** The first Java version with virtual threads. */
    private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

    private final boolean hasVirtualThreads;
    private final Supplier<@Nullable List<Stack>> reader;
    private final LongSupplier clock;
    private final Set<Long> ended = new HashSet<>(); // guarded by this
    // the earliest time when the virtual threads are listed again; 0 before the first list; guarded by this
    private long next;

    public EndedThreads() {
        this(Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS, VirtualStacks::readOrNull, System::nanoTime);
    }

    EndedThreads(boolean hasVirtualThreads, Supplier<@Nullable List<Stack>> reader, LongSupplier clock) {
        this.hasVirtualThreads = hasVirtualThreads;
        this.reader = reader;
        this.clock = clock;
    }

    /**
     * Returns whether the thread has ended. Returns false if this is not known yet, because the virtual threads are
     * listed at most every 2 seconds.
     *
     * @param id the id of a thread that is not a running platform thread
     */
    public synchronized boolean contains(long id) {
        if (!hasVirtualThreads || ended.contains(id)) {
            return true;
        }
        long now = clock.getAsLong();
        if (next != 0 && now - next < 0) {
            return false;
        }
        List<Stack> stacks = reader.get();
        next = now + Math.max(PAUSE_NANOS, COST_FACTOR * (clock.getAsLong() - now));
        // The list may be incomplete if it has the maximum length.
        boolean isComplete = stacks != null && stacks.size() < VirtualStacks.MAX_THREADS;
        if (!isComplete || stacks.stream().anyMatch(stack -> stack.id() == id)) {
            return false;
        }
        if (ended.size() >= MAX_ENDED) {
            ended.clear();
        }
        ended.add(id);
        return true;
    }
}
