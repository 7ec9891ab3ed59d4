package tern.rpc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Options of a single call: request headers, a timeout, and consumers of the response headers and trailers. Immutable.
 * {@link #on(Object)} returns a proxy whose calls have these options.
 * <pre>{@code CallOptions.none().header("tenant", "blue").timeout(Duration.ofMillis(200)).on(users).getUser(7); }</pre>
 */
public final class CallOptions {

    /** Warns that an object is not a proxy, at most once per minute, because every call can cause this warning. */
    private static final SeldomWarning NOT_A_PROXY =
            new SeldomWarning(LoggerFactory.getLogger(CallOptions.class), NanoClock.SYSTEM, Duration.ofMinutes(1));

    private static final CallOptions NONE = new CallOptions(new Metadata(), null, false, null, null, null, null);

    /** The header that contains a call's tag. Dubbo uses an attachment with the same name. */
    private static final String TAG = "dubbo.tag";

    /** Text in the class names of all mocks that Mockito creates for interfaces. */
    private static final String MOCK = "$MockitoMock$";

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

    /**
     * Adds a header. Headers that were added earlier are kept, including headers with the same name. Some protocols
     * cannot send every name and value (docs/http.md, "Time and headers").
     */
    public CallOptions header(String name, String value) {
        checkHeader(name, value);
        return withHeaders(headers.copy().add(name, value));
    }

    /**
     * Adds a binary header. Headers that were added earlier are kept, including headers with the same name. The array
     * is not copied.
     */
    public CallOptions header(String name, byte[] value) {
        checkHeader(name, value);
        return withHeaders(headers.copy().add(name, value));
    }

    /**
     * Throws an exception for a missing name or value immediately. Otherwise, the transport would report the mistake
     * later, or drop the header.
     */
    private static void checkHeader(@Nullable String name, @Nullable Object value) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("a header needs a name");
        }
        if (value == null) {
            throw new IllegalArgumentException("header '" + name + "' has the value null; leave the header out");
        }
    }

    /**
     * Replaces the configured timeout. If the calling thread serves a call, the deadline of that call still applies.
     *
     * @param timeout a positive duration of at most 100 years
     */
    public CallOptions timeout(Duration timeout) {
        Objects.requireNonNull(timeout, "timeout");
        Durations.moreThanZero("the timeout of a call", timeout);
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

    /** Sends calls to providers that have the given tag, such as {@code gray} (docs/cluster.md). */
    public CallOptions tag(String tag) {
        Metadata changed = headers.copy();
        changed.remove(TAG);
        return withHeaders(changed.add(TAG, tag));
    }

    /**
     * Sets the key for consistent hashing. Calls with equal keys go to the same provider. This key takes precedence
     * over a key argument in the reference's settings.
     *
     * @param key a string, a number, or a value whose hash code is the same in all processes
     */
    public CallOptions key(Object key) {
        return new CallOptions(headers, limit, compressed, responseHeaders, responseTrailers, key, waitForReady);
    }

    /**
     * If no provider is available, the call waits for one until its deadline instead of failing immediately.
     */
    public CallOptions waitForReady() {
        return waitForReady(true);
    }

    /**
     * Sets whether calls wait for a provider if none is available. This option takes precedence over the settings of
     * the method and the reference.
     */
    public CallOptions waitForReady(boolean wait) {
        return new CallOptions(headers, limit, compressed, responseHeaders, responseTrailers, key, wait);
    }

    /**
     * Compresses requests if the protocol supports compression. Triple uses gzip. The dubbo protocol does not support
     * compression.
     */
    public CallOptions compressed() {
        return compressed(true);
    }

    CallOptions compressed(boolean compressed) {
        return new CallOptions(headers, limit, compressed, responseHeaders, responseTrailers, key, waitForReady);
    }

    /**
     * Sets the consumer of response headers. The consumer runs on the thread that completes the call, before the result
     * is returned or before the first answer of a stream. On the dubbo protocol, the headers are the answer's
     * attachments. If the consumer throws an exception, the call fails with this exception.
     */
    public CallOptions onResponseHeaders(Consumer<Metadata> consumer) {
        return new CallOptions(headers, limit, compressed, consumer, responseTrailers, key, waitForReady);
    }

    /**
     * Sets the consumer of response trailers. If the call fails, the consumer gets the trailers of the {@link
     * RpcException}. The consumer runs on the thread that completes the call. On the dubbo protocol, the trailers are
     * the answer's attachments. If the consumer throws an exception, the call fails with this exception.
     */
    public CallOptions onResponseTrailers(Consumer<Metadata> consumer) {
        return new CallOptions(headers, limit, compressed, responseHeaders, consumer, key, waitForReady);
    }

    /**
     * Returns a new proxy whose calls have these options. The given proxy does not change. Creating a proxy is cheap.
     *
     * <p>If the given proxy already has options, the new proxy also keeps them. If an option is set in both, the value
     * in this object applies. A header in this object replaces all of the proxy's headers with the same name.
     *
     * <p>If the object is not a proxy, returns it unchanged. Therefore, code that sets options also works with a test's
     * mock or implementation. The options then have no effect. A warning is logged, unless the object is a Mockito
     * mock.
     *
     * @throws IllegalArgumentException if the object is a JDK proxy that Tern did not create. A foreign proxy might
     *     wrap a Tern proxy, and the calls of the wrapped proxy would not have the options
     */
    @SuppressWarnings("unchecked")
    public <T> T on(T proxy) {
        if (Proxy.isProxyClass(proxy.getClass())) {
            InvocationHandler handler = Proxy.getInvocationHandler(proxy);
            if (handler instanceof Target target) {
                return (T) target.with(this);
            }
            throw new IllegalArgumentException(proxy.getClass().getName()
                    + " is not a remote proxy; pass what @RpcReference injected or RpcClient.refer returned");
        }
        if (!proxy.getClass().getName().contains(MOCK)) {
            NOT_A_PROXY.warn(
                    () -> "CallOptions have no effect on "
                            + proxy.getClass().getName()
                            + ", because it is not a remote proxy; pass what @RpcReference injected or RpcClient.refer returned");
        }
        return proxy;
    }

    /**
     * Returns a copy of these options with the given options added. If an option is set in both, the value from the
     * given options applies.
     */
    public CallOptions with(CallOptions later) {
        if (this == NONE) {
            return later;
        }
        Metadata merged = headers.copy();
        merged.removeIf(later.headers::contains);
        return new CallOptions(
                merged.addAll(later.headers),
                later.limit == null ? limit : later.limit,
                compressed || later.compressed,
                later.responseHeaders == null ? responseHeaders : later.responseHeaders,
                later.responseTrailers == null ? responseTrailers : later.responseTrailers,
                later.key == null ? key : later.key,
                later.waitForReady == null ? waitForReady : later.waitForReady);
    }

    /** Returns the headers. The caller must not change them, because calls share them. */
    public Metadata headers() {
        return headers;
    }

    /** Returns the timeout; null if the configured timeout applies. */
    public @Nullable Duration timeout() {
        return limit == null ? null : limit.value();
    }

    /** Returns the timeout and where it was set, for error messages; null if the configured timeout applies. */
    public @Nullable TimeLimit limit() {
        return limit;
    }

    /** Returns the key for consistent hashing; null if the reference's settings determine the key. */
    public @Nullable Object key() {
        return key;
    }

    /** Returns whether calls wait for a provider; null if the settings of the method or the reference apply. */
    public @Nullable Boolean isWaitingForReady() {
        return waitForReady;
    }

    /** Returns whether requests are compressed; false by default. */
    public boolean isCompressed() {
        return compressed;
    }

    public @Nullable Consumer<Metadata> responseHeaders() {
        return responseHeaders;
    }

    public @Nullable Consumer<Metadata> responseTrailers() {
        return responseTrailers;
    }

    /** Copies a proxy with additional options. The invocation handlers of Tern's proxies implement this interface. */
    public interface Target {
        /** Returns a proxy for the same service. Its calls have the options of this proxy and the given options. */
        Object with(CallOptions options);
    }
}
