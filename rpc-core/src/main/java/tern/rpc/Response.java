package tern.rpc;

import org.jspecify.annotations.Nullable;

/**
 * The answer to one call. Filters may change the answer's metadata before the caller gets it. Not thread-safe, because
 * the metadata is not thread-safe.
 */
public final class Response {

    private final @Nullable Object value;
    private final Metadata headers;
    private final Metadata metadata;

    /**
     * @param headers the headers sent before the value
     * @param metadata the trailers sent at the end of the response
     */
    public Response(@Nullable Object value, Metadata headers, Metadata metadata) {
        this.value = value;
        this.headers = headers;
        this.metadata = metadata;
    }

    /** Creates a response with empty headers. The metadata is sent at the end of the response. */
    public Response(@Nullable Object value, Metadata metadata) {
        this(value, new Metadata(), metadata);
    }

    /** Creates a response with empty headers and metadata. */
    public static Response of(@Nullable Object value) {
        return new Response(value, new Metadata());
    }

    /**
     * Returns the result; null for {@code void} and for a stream of answers. For a stream, the response means only that
     * the stream has ended.
     */
    public @Nullable Object value() {
        return value;
    }

    /** Returns the headers sent before the value (Triple). The dubbo protocol has only {@link #metadata()}. */
    public Metadata headers() {
        return headers;
    }

    /** Returns the metadata sent at the end of the response. Triple sends it as trailers, dubbo as attachments. */
    public Metadata metadata() {
        return metadata;
    }

    /**
     * Returns a response with the given value. The new response shares the headers and the metadata of this response.
     */
    public Response withValue(@Nullable Object value) {
        return new Response(value, headers, metadata);
    }
}
