package tern.rpc.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tern.rpc.Durations;

/**
 * The settings for calls to a method. If a value is null, the next level applies. The levels are the method, the
 * service, the interface's annotations, and the client. Streaming methods ignore the timeouts of the service and the
 * client.
 *
 * @param timeout the timeout of a call, including all attempts: more than zero, at most 100 years
 * @param idempotent whether a call may be repeated even if the method may have run; false on the last level
 * @param oneWay whether the caller does not wait for an answer; false on the last level
 * @param timeoutFrom where the timeout was set, usually a property; error messages name it
 * @param waitForReady whether calls wait for a provider until their deadline if none is available; false on the last
 *     level
 * @param hashKey the name of the argument whose value is the key for consistent hashing
 * @param hedged whether a slow call to an idempotent method is also sent to a second provider; false on the last level
 */
public record MethodSettings(
        @Nullable Duration timeout,
        @Nullable Boolean idempotent,
        @Nullable Boolean oneWay,
        @Nullable String timeoutFrom,
        @Nullable Boolean waitForReady,
        @Nullable String hashKey,
        @Nullable Boolean hedged) {

    /**
     * Settings without any values. The settings of the next level apply instead, such as the settings of the service.
     */
    public static final MethodSettings NONE = new MethodSettings(null, null, null);

    public MethodSettings {
        if (timeout != null) {
            Durations.moreThanZero("a timeout", timeout);
        }
    }

    /** Creates settings that do not record where their timeout was set. */
    public MethodSettings(@Nullable Duration timeout, @Nullable Boolean idempotent, @Nullable Boolean oneWay) {
        this(timeout, idempotent, oneWay, null);
    }

    /** Creates settings that record where their timeout was set. */
    public MethodSettings(
            @Nullable Duration timeout,
            @Nullable Boolean idempotent,
            @Nullable Boolean oneWay,
            @Nullable String timeoutFrom) {
        this(timeout, idempotent, oneWay, timeoutFrom, null, null, null);
    }

    public MethodSettings withTimeout(Duration timeout) {
        return withTimeout(timeout, null);
    }

    /**
     * Returns a copy with the given timeout.
     *
     * @param from where the timeout was set, for error messages
     */
    public MethodSettings withTimeout(Duration timeout, @Nullable String from) {
        return new MethodSettings(timeout, idempotent, oneWay, from, waitForReady, hashKey, hedged);
    }

    public MethodSettings withIdempotent(boolean idempotent) {
        return new MethodSettings(timeout, idempotent, oneWay, timeoutFrom, waitForReady, hashKey, hedged);
    }

    public MethodSettings withOneWay(boolean oneWay) {
        return new MethodSettings(timeout, idempotent, oneWay, timeoutFrom, waitForReady, hashKey, hedged);
    }

    public MethodSettings withWaitForReady(boolean waitForReady) {
        return new MethodSettings(timeout, idempotent, oneWay, timeoutFrom, waitForReady, hashKey, hedged);
    }

    /**
     * Returns a copy with the given key for consistent hashing.
     *
     * @param hashKey the name of an argument; class files must contain parameter names
     */
    public MethodSettings withHashKey(@Nullable String hashKey) {
        return new MethodSettings(timeout, idempotent, oneWay, timeoutFrom, waitForReady, hashKey, hedged);
    }

    /**
     * Returns a copy with hedging enabled or disabled. Hedging applies only to idempotent methods, and is disabled by
     * default.
     */
    public MethodSettings withHedging(boolean hedged) {
        return new MethodSettings(timeout, idempotent, oneWay, timeoutFrom, waitForReady, hashKey, hedged);
    }

    /**
     * Returns settings that record where the timeout was set. Returns this object if it has no timeout or already
     * contains this information.
     */
    MethodSettings from(String origin) {
        return timeout == null || timeoutFrom != null ? this : withTimeout(timeout, origin);
    }

    /** Returns a copy in which the values of more general settings replace null values. */
    MethodSettings or(MethodSettings above) {
        return new MethodSettings(
                timeout != null ? timeout : above.timeout,
                idempotent != null ? idempotent : above.idempotent,
                oneWay != null ? oneWay : above.oneWay,
                timeout != null ? timeoutFrom : above.timeoutFrom,
                waitForReady != null ? waitForReady : above.waitForReady,
                hashKey != null ? hashKey : above.hashKey,
                hedged != null ? hedged : above.hedged);
    }
}
