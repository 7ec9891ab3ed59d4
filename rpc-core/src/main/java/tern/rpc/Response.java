package tern.rpc;

import org.jspecify.annotations.Nullable;

/** The answer to one call. Its metadata may be changed on the way back. */
public final class Response {

    private final @Nullable Object value;
    private final Metadata headers;
    private final Metadata metadata;

    /**
     * @param headers what is sent before the value
     * @param metadata what is sent with its end
     */
    public Response(@Nullable Object value, Metadata headers, Metadata metadata) {
        this.value = value;
        this.headers = headers;
        this.metadata = metadata;
    }

    /** A response without headers before the value. */
    public Response(@Nullable Object value, Metadata metadata) {
        this(value, new Metadata(), metadata);
    }

    public static Response of(@Nullable Object value) {
        return new Response(value, new Metadata());
    }

    /** The result; null for {@code void}, and for a stream of answers, which has ended when there is a response. */
    public @Nullable Object value() {
        return value;
    }

    /** What is sent before the value: the headers of Triple. On dubbo there is one kind only, {@link #metadata()}. */
    public Metadata headers() {
        return headers;
    }

    /** What is sent with the end: the trailers of Triple, the attachments of dubbo. */
    public Metadata metadata() {
        return metadata;
    }

    public Response withValue(@Nullable Object replaced) {
        return new Response(replaced, headers, metadata);
    }
}
