package tern.rpc.diagnosis.stack;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;

/**
 * Finds threads that wait for another thread to initialize a class. Java reports a waiting thread as runnable, even
 * though it stays at the line that uses the class and consumes no processor time. To find the thread that runs the
 * static initializer, this class searches the sampled threads. If none of these threads runs the initializer, this
 * class searches up to {@value #MAX_THREADS} randomly chosen threads, at most once a second. Not thread-safe.
 */
public final class ClassInitializers {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MAX_THREADS = 256;

    /**
     * How long samples of a thread are kept: five seconds, because only some threads are sampled each time if many
     * calls are running.
     */
    private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** A thread counts as stopped if it used a processor for less than {@value} of the time between two samples. */
    private static final double STANDS = 0.01;

    private final Map<Long, Stand> last = new HashMap<>(); // the last sample of each thread that appeared to run
    private final Random random = new Random(3);
    private List<ThreadSnapshot> found = List.of(); // the threads that run static initializers
    private long searchedNanos; // when random threads were last searched; 0 before the first search

    /** A sample of a thread that appeared to be running. */
    private record Stand(long atNanos, StackTraceElement frame, long cpuNanos) {

        boolean isSame(Stand later) {
            return frame.equals(later.frame)
                    && (cpuNanos < 0 || later.cpuNanos - cpuNanos <= STANDS * (later.atNanos - atNanos));
        }
    }

    /**
     * Returns the threads that run static initializers, by the id of the sampled thread waiting for the initializer.
     */
    public Map<Long, ThreadSnapshot> awaited(Collection<ThreadSnapshot> sampled, long now) {
        List<ThreadSnapshot> standing = standing(sampled, now);
        if (standing.isEmpty()) {
            return Map.of();
        }
        List<ThreadSnapshot> running = running(sampled);
        if (running.isEmpty() && (searchedNanos == 0 || now - searchedNanos >= PAUSE_NANOS)) {
            searchedNanos = now;
            found = running(ThreadSnapshots.of(chosen()).values());
        }
        List<ThreadSnapshot> known = running.isEmpty() ? found : running;
        Map<Long, ThreadSnapshot> awaited = new HashMap<>();
        for (ThreadSnapshot thread : standing) {
            ThreadSnapshot initializer = nearest(thread, known);
            if (initializer != null) {
                awaited.put(thread.id(), initializer);
            }
        }
        return awaited;
    }

    /** Returns the threads that seem to run but are still at the same source line as in their last sample. */
    private List<ThreadSnapshot> standing(Collection<ThreadSnapshot> sampled, long now) {
        List<ThreadSnapshot> standing = new ArrayList<>();
        for (ThreadSnapshot thread : sampled) {
            if (seemsToRun(thread)) {
                Stand stand = new Stand(now, thread.frames()[0], thread.cpuNanos());
                Stand before = last.put(thread.id(), stand);
                if (before != null && before.isSame(stand)) {
                    standing.add(thread);
                }
            } else {
                last.remove(thread.id());
            }
        }
        last.values().removeIf(stand -> now - stand.atNanos > KEPT_NANOS);
        return standing;
    }

    /**
     * Returns whether the thread is runnable in Java code, or in a native JDK method that may initialize a class, such
     * as {@code Class.forName0}.
     */
    private static boolean seemsToRun(ThreadSnapshot thread) {
        Part.Kind kind = StackReader.read(thread).kind();
        if (thread.state() != Thread.State.RUNNABLE
                || thread.frames().length == 0
                || (kind != Part.Kind.COMPUTING && kind != Part.Kind.CLASS_LOADING)) {
            return false;
        }
        String type = thread.frames()[0].getClassName();
        return !thread.isInNative()
                || type.startsWith("java.lang.")
                || type.startsWith("jdk.internal.misc.")
                || type.startsWith("jdk.internal.reflect.");
    }

    private static List<ThreadSnapshot> running(Collection<ThreadSnapshot> threads) {
        return threads.stream()
                .filter(thread -> StackReader.initialized(thread) != null)
                .toList();
    }

    /**
     * Returns the initializing thread that the waiting thread most likely waits for. The JVM does not report the class
     * that is being initialized. Therefore this method compares the classes of the innermost application frames, and
     * chooses the thread whose class name has the longest prefix in common with the waiting thread's class name.
     */
    private static @Nullable ThreadSnapshot nearest(ThreadSnapshot waiting, List<ThreadSnapshot> initializers) {
        StackTraceElement line = StackReader.first(waiting);
        ThreadSnapshot best = null;
        int longest = -1;
        for (ThreadSnapshot initializer : initializers) {
            StackTraceElement own = StackReader.first(initializer);
            int common = line == null || own == null ? 0 : common(line.getClassName(), own.getClassName());
            if (initializer.id() != waiting.id() && common > longest) {
                longest = common;
                best = initializer;
            }
        }
        return best;
    }

    private static int common(String one, String other) {
        int length = 0;
        while (length < Math.min(one.length(), other.length()) && one.charAt(length) == other.charAt(length)) {
            length++;
        }
        return length;
    }

    private long[] chosen() {
        List<Long> all = new ArrayList<>();
        for (long id : THREADS.getAllThreadIds()) {
            all.add(id);
        }
        Collections.shuffle(all, random);
        return all.stream().mapToLong(Long::longValue).limit(MAX_THREADS).toArray();
    }

    public void clear() {
        last.clear();
        found = List.of();
    }
}
