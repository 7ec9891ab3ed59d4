package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Headers;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.limit.Refusal;
import tern.rpc.netty.OpenRequestMemory;
import tern.rpc.netty.ServerConnection;

/**
 * The memory for the headers of open requests on an HTTP/2 connection. Small headers are not counted. Confined to the
 * event loop.
 */
final class HeadMemory {

    /** The memory that a request header occupies in addition to its name and value, in bytes. */
    private static final int FIELD_BYTES = 64;

    /**
     * The maximum ratio of the decoded size of a header block to its encoded size. Huffman coding reduces a string at
     * best to five eighths of its size (RFC 7541, appendix B).
     */
    private static final int TEXT_FACTOR = 2;

    /**
     * The size below which request headers are not counted in the memory budget. The memory of smaller headers is
     * already limited by the maximum number of streams.
     */
    private static final int SMALL_HEAD_BYTES = 2 << 10;

    private HeadMemory() {}

    /**
     * Returns the number of bytes to count for the headers of a request; 0 if they are small.
     *
     * @param encodedBytes the size of the encoded header block
     */
    static int countedBytes(Http2Headers headers, int encodedBytes) {
        int bytes = TEXT_FACTOR * encodedBytes + FIELD_BYTES * headers.size();
        return bytes < SMALL_HEAD_BYTES ? 0 : bytes;
    }

    /**
     * Reserves the bytes in the memory budget. {@link OpenRequestMemory#headGone} releases them.
     *
     * @return the reason for a refusal; null if the bytes were reserved
     */
    @Nullable
    static RpcException hold(int bytes, ServerConnection connection) {
        String refusal = bytes == 0 ? null : connection.memory().holdHead(bytes);
        if (refusal == null) {
            return null;
        }
        connection.calls().refused(Refusal.CONNECTION);
        return RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, refusal, Executed.NO);
    }
}
