package tern.rpc.spring.autoconfigure.pool;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties under {@code rpc.pools}.
 *
 * @param tuned Whether pools of other libraries get sizes and waits derived from the target (rpc.slo) unless the
 *     application sets them. Tern measures these pools in any case.
 * @param fields Whether Tern replaces executors and HTTP clients in fields of the application's beans with objects
 *     that measure them.
 * @param http Connections of Apache HttpClient that RestClient and RestTemplate use.
 * @param jedis Redis client without Spring Data, as a bean of type UnifiedJedis.
 * @param executors Thread pools for the application's own work, each a bean of type Executor under its name.
 */
@ConfigurationProperties(value = "rpc.pools", ignoreUnknownFields = false)
public record RpcPoolsProperties(
        @DefaultValue("true") boolean tuned,
        @DefaultValue("true") boolean fields,
        @DefaultValue Http http,
        @DefaultValue Jedis jedis,
        @DefaultValue Map<String, Executor> executors) {

    public RpcPoolsProperties {
        executors = Map.copyOf(executors);
    }

    /**
     * Connections of Apache HttpClient that RestClient and RestTemplate use.
     *
     * @param maxTotal Maximum number of connections to all hosts together. Default: the number of workers, but at least
     *     max-per-host.
     * @param maxPerHost Maximum number of connections to one host. Default: max-total if it is set, otherwise a value
     *     derived from the target, at least 64.
     * @param maxWait Maximum time that a call waits for a connection. Default: ten times rpc.slo.latency, at most 1s.
     */
    public record Http(
            @Nullable Integer maxTotal,
            @Nullable Integer maxPerHost,
            @Nullable Duration maxWait) {}

    /**
     * Redis client without Spring Data, as a bean of type UnifiedJedis.
     *
     * @param url Address of Redis, such as redis://user:password@host:6379/0. Default: no Jedis bean is created.
     * @param maxTotal Maximum number of connections. Default: derived from the target.
     * @param maxWait Maximum time that a call waits for a connection. Default: twice rpc.slo.latency, at most 200ms.
     * @param connectTimeout Timeout of an attempt to connect.
     * @param readTimeout Maximum wait for an answer.
     */
    public record Jedis(
            @Nullable String url,
            @Nullable Integer maxTotal,
            @Nullable Duration maxWait,
            @DefaultValue("200ms") Duration connectTimeout,
            @DefaultValue("500ms") Duration readTimeout) {}

    /**
     * Thread pools for the application's own work.
     *
     * @param threads Number of threads.
     * @param queueCapacity Maximum number of tasks that wait for a thread. Default: ten times the number of threads.
     * @param rejection What happens to a task when the queue is full: abort rejects the task, caller-runs runs it on
     *     the submitting thread.
     */
    public record Executor(
            @DefaultValue("8") int threads,
            @Nullable Integer queueCapacity,
            @DefaultValue("abort") Rejection rejection) {}

    /** What happens to a task when the queue is full. */
    public enum Rejection {
        ABORT,
        CALLER_RUNS
    }
}
