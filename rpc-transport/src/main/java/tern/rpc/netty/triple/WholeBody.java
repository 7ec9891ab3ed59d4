package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpResponseStatus;
import org.jspecify.annotations.Nullable;

/**
 * Reads a body that consists of one message. The message is complete when the body ends. Confined to the event loop.
 */
final class WholeBody implements BodyReader {

    private final int limit;
    private final boolean compressed;
    private @Nullable ByteBuf whole;
    private boolean joined; // true if the buffer is a copy, so that more bytes can be appended to it
    private boolean handedOut;

    /**
     * @param limit the maximum size of the message before decompression
     * @param compressed whether the message is compressed; an empty message is never compressed
     */
    WholeBody(int limit, boolean compressed) {
        this.limit = limit;
        this.compressed = compressed;
    }

    /** Keeps the first piece without a copy, because a body usually arrives in one piece. */
    @Override
    public void add(ByteBuf bytes) {
        ByteBuf before = whole;
        if (before == null) {
            whole = bytes;
            return;
        }
        ByteBuf target = before;
        if (!joined) {
            joined = true;
            target = bytes.alloc().buffer(2 * before.readableBytes() + bytes.readableBytes());
            target.writeBytes(before);
            before.release();
            whole = target;
        }
        if (target.readableBytes() <= limit) {
            // the message exceeds the limit and will be refused at its end, so the remaining bytes are dropped
            target.writeBytes(bytes);
        }
        bytes.release();
    }

    @Override
    public @Nullable Frame next(boolean ended) {
        ByteBuf bytes = whole;
        if (bytes != null && bytes.readableBytes() > limit) {
            throw tooLarge(limit);
        }
        if (!ended || handedOut) {
            return null;
        }
        handedOut = true;
        whole = null;
        return bytes == null
                ? new Frame(Unpooled.EMPTY_BUFFER, 0)
                : new Frame(bytes, compressed ? MessageDeframer.COMPRESSED : 0);
    }

    /**
     * Creates the error for a message above the limit: RESOURCE_EXHAUSTED, or HTTP status 413 for protocols that use
     * HTTP statuses.
     */
    static HttpRefusal tooLarge(int limit) {
        return tooLarge("the request has more than " + limit + " bytes (set by rpc.limits.max-request)");
    }

    static HttpRefusal tooLarge(String how) {
        return new HttpRefusal(HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, how);
    }

    @Override
    public boolean isEmptyAtEnd() {
        return handedOut;
    }

    @Override
    public int held() {
        ByteBuf bytes = whole;
        if (bytes == null) {
            return 0;
        }
        return joined ? BodyReader.held(bytes) : bytes.readableBytes();
    }

    @Override
    public void compact() {
        ByteBuf bytes = whole;
        if (bytes != null && !joined) {
            joined = true;
            whole = BodyReader.copy(bytes);
            bytes.release();
        }
    }

    @Override
    public void close() {
        ByteBuf bytes = whole;
        if (bytes != null) {
            whole = null;
            bytes.release();
        }
    }
}
