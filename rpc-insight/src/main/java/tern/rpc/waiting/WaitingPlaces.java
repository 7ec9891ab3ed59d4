package tern.rpc.waiting;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Known methods of libraries in which threads wait. The innermost matching frame decides: a thread that opens a
 * connection for a pool waits for the database, and one that logs inside a driver waits for the log.
 */
final class WaitingPlaces implements StackClassifier {

    private static final String STATEMENT =
            "the statements: fewer, with an index, in batches; the longest wait by socketTimeout in the JDBC URL";
    private static final String PEER = "the peer, or fewer calls for each request";
    private static final String SERVICE = "rpc.client.timeout, or what that service waits for";
    private static final String LOGGING = "rpc.logging.async";
    private static final String DRUID = "com.alibaba.druid.pool.DruidDataSource";
    private static final String COMMONS_POOL = "org.apache.commons.pool2.impl.";

    /** Classes that may be between a library and its wait without being its reason. */
    private static final List<String> CARRIERS =
            List.of("java.", "javax.", "jdk.", "sun.", "com.sun.", "io.netty.", "reactor.", "tern.rpc.");

    /**
     * @param prefix the prefix of class names
     * @param methods their methods; all if empty
     * @param inside the prefix of a class further out that is required; empty for none
     * @param around whether code called by the library counts too; otherwise the library itself must wait
     */
    private record Place(String prefix, Set<String> methods, String inside, boolean around, Wait meaning) {

        boolean isAt(StackTraceElement frame, ThreadStack thread) {
            return frame.getClassName().startsWith(prefix)
                    && (methods.isEmpty() || methods.contains(frame.getMethodName()))
                    && (inside.isEmpty() || thread.isIn(inside));
        }
    }

    /** The places; for one frame, the first match decides. */
    private static final List<Place> PLACES = List.of(
            // pools of connections to databases
            around(DRUID, "Druid: return connection", "spring.datasource.druid.use-unfair-lock", "recycle"),
            around(
                    DRUID,
                    "Druid: get connection",
                    "spring.datasource.druid.max-active",
                    "getConnectionInternal",
                    "getConnectionDirect",
                    "pollLast",
                    "takeLast"),
            around(
                    "com.zaxxer.hikari.pool.HikariPool",
                    "HikariCP: get connection",
                    "spring.datasource.hikari.maximum-pool-size",
                    "getConnection"),
            // databases
            at("org.mariadb.jdbc.", "MariaDB: answer", STATEMENT),
            at("com.mysql.", "MySQL: answer", STATEMENT),
            at("org.postgresql.", "PostgreSQL: answer", STATEMENT),
            at("org.h2.", "H2: answer", STATEMENT),
            // Redis
            inside(
                    "redis.clients.jedis.",
                    "Jedis: get connection",
                    "spring.data.redis.jedis.pool.max-active",
                    COMMONS_POOL,
                    "borrowObject"),
            inside(
                    "io.lettuce.",
                    "Lettuce: get connection",
                    "spring.data.redis.lettuce.pool.max-active",
                    COMMONS_POOL,
                    "borrowObject"),
            around(COMMONS_POOL, "commons-pool2: borrow", "the maximum of that pool", "borrowObject"),
            at(
                    "redis.clients.jedis.",
                    "Redis: answer (Jedis)",
                    "fewer commands for each request (MGET, pipeline); spring.data.redis.timeout"),
            at(
                    "io.lettuce.core.",
                    "Redis: answer (Lettuce)",
                    "fewer commands for each request (MGET); spring.data.redis.client-type=jedis"),
            // HTTP clients
            around(
                    "org.apache.hc.client5.http.impl.classic.InternalExecRuntime",
                    "HttpClient: get connection",
                    "rpc.pools.http.max-per-host",
                    "acquireEndpoint"),
            at("org.apache.hc.core5.http.impl.io.", "HTTP: answer (HttpClient)", PEER),
            at("org.apache.hc.client5.http.impl.io.DefaultHttpClient", "HTTP: connect (HttpClient)", PEER),
            at("jdk.internal.net.http.HttpClientImpl", "HTTP: answer (JDK client)", PEER),
            around(
                    "org.asynchttpclient.netty.channel.",
                    "async-http-client: get connection",
                    "maxConnectionsPerHost and maxConnections of the client",
                    "acquireChannelLock"),
            at("org.asynchttpclient.", "HTTP: answer (async-http-client)", PEER),
            // logging
            around("com.lmax.disruptor.", "Log4j 2: full ring", LOGGING),
            around("org.apache.logging.log4j.core.async.", "Log4j 2: full ring", LOGGING),
            around(
                    "org.apache.logging.log4j.core.appender.AsyncAppender",
                    "Log4j 2: full queue of the asynchronous appender",
                    LOGGING),
            around("org.apache.logging.log4j.core.", "Log4j 2: appender", LOGGING),
            around(
                    "ch.qos.logback.core.AsyncAppenderBase",
                    "Logback: full queue of the asynchronous appender",
                    "neverBlock and queueSize of the appender"),
            around("ch.qos.logback.", "Logback: appender", "an asynchronous appender, or Log4j 2 with " + LOGGING),
            // our own
            at("tern.rpc.transport.PendingCall", "RPC: answer of another service", SERVICE, "await"),
            at("tern.rpc.client.WaitingCaller", "RPC: answer of another service", SERVICE, "awaitEnd"),
            at("tern.rpc.client.CallFuture", "RPC: answer of another service", SERVICE, "get", "join"));

    private static final String CALLER_RUNS = "java.util.concurrent.ThreadPoolExecutor$CallerRunsPolicy";
    private static final String NAMED_POOL = "tern.rpc.spring.autoconfigure.pool.BusinessPool";
    private static final Wait IN_CALLER =
            new Wait("caller-runs: task of a full pool", "rpc.pools.executors.*.threads, then .queue-capacity");

    private static Place at(String prefix, String resource, String change, String... methods) {
        return new Place(prefix, Set.of(methods), "", false, new Wait(resource, change));
    }

    private static Place around(String prefix, String resource, String change, String... methods) {
        return new Place(prefix, Set.of(methods), "", true, new Wait(resource, change));
    }

    private static Place inside(String outside, String resource, String change, String prefix, String... methods) {
        return new Place(prefix, Set.of(methods), outside, true, new Wait(resource, change));
    }

    @Override
    public @Nullable Wait classify(ThreadStack thread) {
        Wait found = thread.isWaiting() ? innermost(thread) : null;
        if (found != null) {
            return found;
        }
        // Such a thread does not do its own work, even while it runs.
        boolean inCaller = thread.isIn(CALLER_RUNS, "rejectedExecution") || thread.isIn(NAMED_POOL, "runByCaller");
        return inCaller ? IN_CALLER : null;
    }

    private static @Nullable Wait innermost(ThreadStack thread) {
        boolean others = false; // whether other code is further in
        for (StackTraceElement frame : thread.frames()) {
            for (Place place : PLACES) {
                if ((place.around || !others) && place.isAt(frame, thread)) {
                    return place.meaning;
                }
            }
            others |= CARRIERS.stream().noneMatch(frame.getClassName()::startsWith)
                    && PLACES.stream().noneMatch(place -> frame.getClassName().startsWith(place.prefix));
        }
        return null;
    }
}
