package tern.rpc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Options of a single call: request headers, a timeout, and consumers of the response headers and trailers. Immutable.
 * {@link #on(Object)} returns a proxy whose calls have these options.
 * <pre>{@code CallOptions.none().header("tenant", "blue").timeout(Duration.ofMillis(200)).on(users).getUser(7); }</pre>
 */
public final class CallOptions {

    private static final CallOptions NONE = new CallOptions(new Metadata(), null, false, null, null, null, null);

    /** The header that contains a tag. Dubbo uses an attachment of the same name. */
    private static final String TAG = "dubbo.tag";

    private final Metadata headers;
    private final @Nullable TimeLimit limit;
    private final boolean compressed;
    private final @Nullable Consumer<Metadata> responseHeaders;
    private final @Nullable Consumer<Metadata> responseTrailers;
    private final @Nullable Object key;
    private final @Nullable Boolean waitForReady;

    private CallOptions(
            Metadata headers,
            @Nullable TimeLimit limit,
            boolean compressed,
            @Nullable Consumer<Metadata> responseHeaders,
            @Nullable Consumer<Metadata> responseTrailers,
            @Nullable Object key,
            @Nullable Boolean waitForReady) {
        this.headers = headers;
        this.limit = limit;
        this.compressed = compressed;
        this.responseHeaders = responseHeaders;
        this.responseTrailers = responseTrailers;
        this.key = key;
        this.waitForReady = waitForReady;
    }

    public static CallOptions none() {
        return NONE;
    }

    /** Adds a header, besides the headers set before. */
    public CallOptions header(String name, String value) {
        return withHeaders(headers.copy().add(name, value));
    }

    /** Adds a binary header, besides the headers set before. The array is not copied. */
    public CallOptions header(String name, byte[] value) {
        return withHeaders(headers.copy().add(name, value));
    }

    /**
     * Replaces the configured timeout. The deadline of a call being served still applies.
     *
     * @param timeout above zero
     */
    public CallOptions timeout(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("the timeout of a call is " + timeout + "; expected more than 0");
        }
        return new CallOptions(
                headers,
                new TimeLimit(timeout, "CallOptions.timeout"),
                compressed,
                responseHeaders,
                responseTrailers,
                key,
                waitForReady);
    }

    private CallOptions withHeaders(Metadata metadata) {
        return new CallOptions(metadata, limit, compressed, responseHeaders, responseTrailers, key, waitForReady);
    }

    /** Sends calls to providers with this tag, such as {@code gray} (docs/cluster.md). */
    public CallOptions tag(String tag) {
        Metadata changed = headers.copy();
        changed.remove(TAG);
        return withHeaders(changed.add(TAG, tag));
    }

    /**
     * Sets the key of calls for consistent hashing. Calls with equal keys go to the same provider. It takes precedence
     * over the argument that the reference names.
     *
     * @param key a text or a number, or any value whose hash code is equal in all processes
     */
    public CallOptions key(Object key) {
        return new CallOptions(headers, limit, compressed, responseHeaders, responseTrailers, key, waitForReady);
    }

    /** Lets calls that find no provider wait for one within their deadline, instead of failing at once. */
    public CallOptions waitForReady() {
        return waitForReady(true);
    }

    /** Sets whether calls that find no provider wait for one. Takes precedence over settings of method and reference. */
    public CallOptions waitForReady(boolean wait) {
        return new CallOptions(headers, limit, compressed, responseHeaders, responseTrailers, key, wait);
    }

    /** Compresses requests if the protocol can: gzip on Triple, nothing on dubbo. */
    public CallOptions compressed() {
        return compressed(true);
    }

    CallOptions compressed(boolean compressed) {
        return new CallOptions(headers, limit, compressed, responseHeaders, responseTrailers, key, waitForReady);
    }

    /**
     * Adds a consumer of the headers of each answer. It runs before the result is returned, on the thread that
     * completes the call. For a stream it runs before the first answer. On the dubbo protocol the headers are the
     * attachments of the answer.
     */
    public CallOptions onResponseHeaders(Consumer<Metadata> consumer) {
        return new CallOptions(headers, limit, compressed, consumer, responseTrailers, key, waitForReady);
    }

    /**
     * Adds a consumer of the trailers of each answer, including an {@link RpcException}. It runs on the thread that
     * completes the call. On the dubbo protocol the trailers are the attachments of the answer.
     */
    public CallOptions onResponseTrailers(Consumer<Metadata> consumer) {
        return new CallOptions(headers, limit, compressed, responseHeaders, consumer, key, waitForReady);
    }

    /**
     * Returns a proxy whose calls have these options. This is cheap and does not change the given proxy.
     *
     * @throws IllegalArgumentException if the object is not a proxy made by Tern
     */
    @SuppressWarnings("unchecked")
    public <T> T on(T proxy) {
        if (Proxy.isProxyClass(proxy.getClass())) {
            InvocationHandler handler = Proxy.getInvocationHandler(proxy);
            if (handler instanceof Target target) {
                return (T) target.with(this);
            }
        }
        throw new IllegalArgumentException(proxy.getClass().getName()
                + " is not a remote proxy; pass what @RpcReference injected or RpcClient.refer returned");
    }

    public Metadata headers() {
        return headers;
    }

    public @Nullable Duration timeout() {
        return limit == null ? null : limit.value();
    }

    /** The timeout with its origin, for messages; null if the configured timeout applies. */
    public @Nullable TimeLimit limit() {
        return limit;
    }

    /** The key for consistent hashing; null if the reference decides. */
    public @Nullable Object key() {
        return key;
    }

    /** Whether calls wait for a provider; null if settings decide. */
    public @Nullable Boolean isWaitingForReady() {
        return waitForReady;
    }

    public boolean isCompressed() {
        return compressed;
    }

    public @Nullable Consumer<Metadata> responseHeaders() {
        return responseHeaders;
    }

    public @Nullable Consumer<Metadata> responseTrailers() {
        return responseTrailers;
    }

    /** Implemented by the handlers of Tern's proxies. */
    public interface Target {
        /** Returns a proxy of the same service whose calls have the given options. */
        Object with(CallOptions options);
    }
}
