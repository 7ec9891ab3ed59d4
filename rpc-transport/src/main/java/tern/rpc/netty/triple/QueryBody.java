package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.jspecify.annotations.Nullable;

/**
 * The body reader for GET requests, whose message is in the query of the URL. This reader skips the body. Confined to
 * the event loop.
 */
final class QueryBody implements BodyReader {

    private final byte[] message;
    private final boolean compressed;
    private boolean handedOut;

    QueryBody(byte[] message, boolean compressed) {
        this.message = message;
        this.compressed = compressed && message.length > 0;
    }

    @Override
    public void add(ByteBuf bytes) {
        bytes.release();
    }

    @Override
    public @Nullable Frame next(boolean ended) {
        if (!ended || handedOut) {
            return null;
        }
        handedOut = true;
        return new Frame(Unpooled.wrappedBuffer(message), compressed ? MessageDeframer.COMPRESSED : 0);
    }

    @Override
    public boolean isEmptyAtEnd() {
        return handedOut;
    }

    @Override
    public int held() {
        return 0;
    }

    @Override
    public void close() {
        // this reader holds no bytes
    }
}
