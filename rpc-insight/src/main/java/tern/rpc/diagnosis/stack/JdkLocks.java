package tern.rpc.diagnosis.stack;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/**
 * Reads waits for locks whose owner the JVM reports. Distinguishes locks that the application takes itself from locks
 * that the JDK or a library takes, such as the lock of {@code System.out}.
 */
public final class JdkLocks {

    /** The prefixes of the classes that implement locks. */
    private static final List<String> LOCKS = List.of(
            "java.util.concurrent.locks.",
            "jdk.internal.misc.",
            "sun.misc.Unsafe",
            "java.lang.VirtualThread",
            "java.lang.Object");

    /** The kinds of slow work that threads do while they hold a JDK or library lock. */
    private static final Set<Kind> SLOW = EnumSet.of(Kind.FILE, Kind.SOCKET, Kind.RESOLVER);

    /** The methods in which executor threads wait for their next task. */
    private static final Set<String> IDLE = Set.of(
            "tern.rpc.concurrent.WorkerPool.waitForWork",
            "java.util.concurrent.ThreadPoolExecutor.getTask",
            "java.util.concurrent.ForkJoinPool.awaitWork",
            "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask",
            "org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll");

    private static final String READ_LOCK = "ReentrantReadWriteLock.ReadLock";

    private static final String WRITE_LOCK = "ReentrantReadWriteLock.WriteLock";

    private JdkLocks() {}

    /**
     * Considers a thread that waits for a JDK or library lock. If the lock's owner uses a file or socket while it holds
     * the lock, returns this activity; otherwise null. The waiting thread would do the same work next, so the wait is
     * attributed to this work.
     */
    static @Nullable Part workOfOwner(ThreadSnapshot thread) {
        ThreadSnapshot owner = thread.owner();
        String taker = taker(thread);
        if (owner == null || owner.owner() != null || taker == null || !isInside(owner, taker)) {
            return null;
        }
        boolean loads = thread.waitsIn("java.lang.ClassLoader", "") || owner.waitsIn("java.lang.ClassLoader", "");
        Part work = loads ? null : StackReader.read(owner);
        return work != null && SLOW.contains(work.kind()) ? work : null;
    }

    /**
     * Returns whether the given class does all the work under its lock itself. Returns false if the class may call
     * application code while it holds the lock, as some maps do. In this case, the application
     * code is slow, and not the class.
     */
    private static boolean isInside(ThreadSnapshot owner, String taker) {
        for (StackTraceElement frame : owner.frames()) {
            if (frame.getClassName().equals(taker)) {
                return true;
            }
            if (ApplicationCode.owns(frame.getClassName())) {
                return false;
            }
        }
        return false;
    }

    /**
     * Returns the name of the lock that the thread is waiting for. If a class of the JDK or of a library requests the
     * lock, the lock is named after this class.
     *
     * @param lock the name of a lock that application code requests itself, or whose owner is unknown
     */
    static String name(ThreadSnapshot thread, String lock) {
        String taker = thread.owner() == null ? null : taker(thread);
        if (taker == null && thread.owner() != null && lock.equals(READ_LOCK)) {
            // The JVM reports no owners of a read lock. If it reports an owner, the thread waits for a writer, so the
            // wait is named after the write lock.
            return WRITE_LOCK;
        }
        return taker == null ? lock : "lock of " + ThreadSnapshot.simple(taker);
    }

    /**
     * Finds the code that requests the lock for the waiting thread. Returns its class if the class belongs to the JDK
     * or to a library. Returns null if application code requests the lock itself.
     */
    static @Nullable String taker(ThreadSnapshot thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (LOCKS.stream().noneMatch(type::startsWith)) {
                return ApplicationCode.owns(type) ? null : type;
            }
        }
        return null;
    }

    /**
     * Returns whether the owner has returned from the application code without releasing a lock that the application
     * takes itself. Only locks of java.util.concurrent can remain locked after their owner has left the code that took
     * them.
     */
    static boolean isLeftBehind(ThreadSnapshot waiter, ThreadSnapshot owner) {
        return waiter.state() != Thread.State.BLOCKED
                && taker(waiter) == null
                && StackReader.first(waiter) != null
                && owner.frames().length < ThreadSnapshots.MAX_FRAMES
                && StackReader.first(owner) == null;
    }

    /** Returns whether the thread is waiting for the next task of its executor. */
    public static boolean isIdle(ThreadSnapshot thread) {
        return thread.state() != Thread.State.RUNNABLE
                && Stream.of(thread.frames())
                        .anyMatch(frame -> IDLE.contains(frame.getClassName() + "." + frame.getMethodName()));
    }

    public static boolean isNeverReleased(Part part) {
        return part.kind() == Kind.LOCK && part.name().contains(StackReader.NEVER_RELEASED);
    }
}
