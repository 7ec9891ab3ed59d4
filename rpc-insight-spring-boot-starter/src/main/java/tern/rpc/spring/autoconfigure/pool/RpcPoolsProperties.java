package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Values as they are written.
 *
 * @param tuned Whether pools of other libraries get sizes and waits from the target (rpc.slo) where the application sets
 *     none; they are watched either way.
 * @param http Connections of Apache HttpClient that RestClient and RestTemplate use.
 * @param jedis Redis without Spring Data, by a bean of type UnifiedJedis.
 * @param executors Pools of threads for the application's own work, each a bean of type Executor under its name.
 */
@ConfigurationProperties(value = "rpc.pools", ignoreUnknownFields = false)
public record RpcPoolsProperties(
        @DefaultValue("true") boolean tuned,
        @DefaultValue Http http,
        @DefaultValue Jedis jedis,
        @DefaultValue Map<String, Executor> executors) {

    public RpcPoolsProperties {
        executors = Map.copyOf(executors);
    }

    /**
     * Connections of Apache HttpClient that RestClient and RestTemplate use.
     *
     * @param maxTotal Number of connections to all hosts together; that of the workers when not set, and never fewer than
     *     to one host.
     * @param maxPerHost Number of connections to one host; max-total if that is set, and from the target, 64 or more, when
     *     not set either.
     * @param maxWait Longest time that a call waits for a connection; ten times rpc.slo.latency, up to 1s, when not set.
     */
    public record Http(
            @Nullable Integer maxTotal,
            @Nullable Integer maxPerHost,
            @Nullable Duration maxWait) {}

    /**
     * Redis without Spring Data, by a bean of type UnifiedJedis.
     *
     * @param url Address, such as redis://user:password@host:6379/0; no bean is made when not set.
     * @param maxTotal Number of connections; from the target when not set.
     * @param maxWait Longest time that a call waits for a connection; twice rpc.slo.latency, up to 200ms, when not set.
     * @param connectTimeout Longest time for making a connection.
     * @param readTimeout Longest time for an answer.
     */
    public record Jedis(
            @Nullable String url,
            @Nullable Integer maxTotal,
            @Nullable Duration maxWait,
            @DefaultValue("200ms") Duration connectTimeout,
            @DefaultValue("500ms") Duration readTimeout) {}

    /**
     * Pools of threads for the application's own work.
     *
     * @param threads Number of tasks that run at once.
     * @param queueCapacity Number of tasks that may wait for a thread; ten for each thread when not set.
     * @param rejection What happens to one more: it is refused (abort), or its caller has to run it (caller-runs).
     */
    public record Executor(
            @DefaultValue("8") int threads,
            @Nullable Integer queueCapacity,
            @DefaultValue("abort") Rejection rejection) {}

    /** What happens to a task that finds the queue full. */
    public enum Rejection {
        ABORT,
        CALLER_RUNS
    }
}
