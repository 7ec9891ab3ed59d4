package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes threads that wait inside a library for something that is held by other threads: a pooled object, a lock
 * that several processes share, or the permit of a limiter for concurrent calls. Without this class, such a wait would
 * be taken for a slow command on the server that the library talks to.
 */
public final class LibraryWaits {

    /** The name of a pool of database connections that Tern does not measure. */
    private static final String CONNECTIONS = "connection pool";

    /** The name prefix of the classes that measure waits for connections. */
    private static final String MEASURES = "tern.rpc.spring.autoconfigure.pool.";

    private static final Pattern QUEUE = Pattern.compile(".*(Queue|Deque)\\.(take|poll)(First|Last)?");

    /** The text between the pool and the waiting stack frame in the name of a wait for a pool. */
    private static final String IN = " in ";

    public static final String DISTRIBUTED = "distributed lock";
    public static final String LIMIT = "concurrency limit";
    public static final String BULKHEAD = "bulkhead";

    /**
     * Classes of a library in which threads wait.
     *
     * @param prefix the prefix of the class name
     * @param within a part of the class name after the prefix; empty if the prefix is sufficient
     * @param name the name of the object or limit that the thread is waiting for
     */
    private record Wait(String prefix, String within, Kind kind, String name) {

        boolean is(String type) {
            return type.startsWith(prefix) && type.indexOf(within, prefix.length()) >= 0;
        }
    }

    /**
     * Classes whose frames show a wait only if they are the innermost frames outside the JDK. If such a class calls
     * other library classes, the thread may be opening a connection or sending a command.
     */
    private static final List<Wait> WAITS = List.of(
            new Wait("org.apache.commons.pool2.impl.", "", Kind.POOL, "object pool"),
            new Wait("org.apache.commons.pool.impl.", "", Kind.POOL, "object pool"),
            new Wait("redis.clients.jedis.util.Pool", "", Kind.POOL, "JedisPool"),
            new Wait("com.mongodb.internal.connection.", "Pool", Kind.POOL, "pool of MongoDB connections"),
            new Wait("org.redisson.Redisson", "Lock", Kind.LOCK, DISTRIBUTED),
            new Wait("org.redisson.Redisson", "Semaphore", Kind.LOCK, DISTRIBUTED),
            new Wait("org.apache.curator.framework.recipes.locks.", "", Kind.LOCK, DISTRIBUTED),
            new Wait("org.springframework.integration.redis.util.RedisLockRegistry", "", Kind.LOCK, DISTRIBUTED),
            new Wait("org.springframework.integration.jdbc.lock.JdbcLockRegistry", "", Kind.LOCK, DISTRIBUTED),
            new Wait("org.springframework.util.ConcurrencyThrottleSupport", "", Kind.LOCK, LIMIT),
            new Wait("io.github.resilience4j.bulkhead.", "Bulkhead", Kind.LOCK, BULKHEAD));

    /** Classes whose frames show a wait even if other library classes are further inside on the stack. */
    private static final List<Wait> ANYWHERE = List.of(
            new Wait("com.hazelcast.cp.internal.datastructures.", "Lock", Kind.LOCK, DISTRIBUTED),
            new Wait("com.hazelcast.cp.internal.datastructures.", "Semaphore", Kind.LOCK, DISTRIBUTED),
            new Wait("com.hazelcast.client.cp.internal.datastructures.", "Lock", Kind.LOCK, DISTRIBUTED),
            new Wait("com.hazelcast.client.cp.internal.datastructures.", "Semaphore", Kind.LOCK, DISTRIBUTED));

    private LibraryWaits() {}

    /**
     * Returns the thread's wait inside a library; null if the thread does not wait inside a library.
     *
     * @param at the application's innermost method
     */
    static @Nullable Part of(ThreadSnapshot thread, String at) {
        if (thread.state() == Thread.State.RUNNABLE) {
            return null;
        }
        boolean innermost = true;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (ThreadSnapshot.isPlatform(type)) {
                continue;
            }
            if (ApplicationCode.owns(type)) {
                return null;
            }
            Wait wait = find(innermost ? WAITS : ANYWHERE, type);
            if (wait != null) {
                return wait.kind == Kind.POOL
                        ? new Part(Kind.POOL, pool(wait, thread) + IN + at)
                        : new Part(Kind.LOCK, wait.name + StackReader.WANTED + at);
            }
            innermost = false;
        }
        return null;
    }

    private static @Nullable Wait find(List<Wait> waits, String type) {
        return waits.stream().filter(wait -> wait.is(type)).findFirst().orElse(null);
    }

    /**
     * Returns the name of the pool that the thread waits for. For example, Jedis keeps its connections in an object
     * pool of another library, so the wait is named after Jedis.
     */
    private static String pool(Wait found, ThreadSnapshot thread) {
        for (StackTraceElement frame : thread.frames()) {
            for (Wait wait : WAITS) {
                if (wait.kind == Kind.POOL && !wait.prefix.startsWith("org.apache.") && wait.is(frame.getClassName())) {
                    return wait.name;
                }
            }
        }
        return found.name;
    }

    /**
     * Returns the activity of a call's thread. If the thread is waiting for a database connection although the ledger
     * records no such wait, the pool is not measured, because the application created it in its own code. The ledger's
     * phase is read shortly before the stack. If a thread begins to wait for a measured pool in between, the ledger
     * also shows no wait, but the stack contains Tern's code that measures the pool.
     *
     * @param read what the stack of the thread shows
     */
    public static Part ofCall(Part read, Phase phase, ThreadSnapshot thread) {
        boolean isUnmeasured = phase == Phase.OWN
                && read.equals(Account.part(Phase.JDBC_CONNECTION, ""))
                && Stream.of(thread.frames())
                        .noneMatch(frame -> frame.getClassName().startsWith(MEASURES));
        return isUnmeasured ? new Part(Kind.POOL, CONNECTIONS + IN + StackReader.place(thread)) : read;
    }

    /**
     * Returns whether the given JDK method takes an object from a queue. An application often implements its own pools
     * with a queue.
     *
     * @param called the method, with the simple name of its class
     */
    public static boolean takesFromQueue(String called) {
        return QUEUE.matcher(called).matches();
    }

    /**
     * Returns whether the given JDK method takes an object from a queue, or waits until the queue has a free place.
     *
     * @param called the method, with the simple name of its class
     */
    public static boolean waitsForQueue(String called) {
        return takesFromQueue(called) || LibraryWork.FILLS.matcher(called).find();
    }

    /** Returns whether the given activity or wait is a wait for a pool that is known only from stacks. */
    public static boolean isOwnPool(Part part) {
        return part.kind() == Kind.POOL && part.name().contains(IN);
    }
}
