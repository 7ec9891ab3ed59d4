package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import org.jspecify.annotations.Nullable;

/**
 * Creates Netty's header encoder for the first header block that needs it. The tables of Netty's encoder occupy 750
 * bytes, and the answers that {@link PlainAnswers} writes need no encoder. The dynamic table never exceeds its default
 * size, even if the client allows more. Netty's encoder stores every field, and has only a few hash buckets. If a
 * client could set a table size of 4 GiB, the server would store the headers of all answers to this client, and each
 * answer would take longer than the previous one. Confined to the event loop.
 */
final class LateHeadersEncoder implements Http2HeadersEncoder, Http2HeadersEncoder.Configuration {

    private @Nullable DefaultHttp2HeadersEncoder encoder;
    private long listBytes = Http2CodecUtil.MAX_HEADER_LIST_SIZE;
    private boolean sizeChanged; // true if the next header block must announce a changed table size

    private DefaultHttp2HeadersEncoder encoder() throws Http2Exception {
        DefaultHttp2HeadersEncoder made = encoder;
        if (made == null) {
            made = new DefaultHttp2HeadersEncoder();
            made.maxHeaderListSize(listBytes);
            encoder = made;
        }
        return made;
    }

    @Override
    public void encodeHeaders(int streamId, Http2Headers headers, ByteBuf out) throws Http2Exception {
        encoder().encodeHeaders(streamId, headers, out);
        sizeChanged = false;
    }

    /**
     * Returns whether the next header block must begin with the new size of the table (RFC 7541, 4.2). This class must
     * then encode the block. Many clients treat a block without this size as a compression error, and close the
     * connection.
     */
    boolean mustEncodeNext() {
        return sizeChanged;
    }

    @Override
    public Configuration configuration() {
        return this;
    }

    /**
     * Creates the encoder if the table size differs from the default. The encoder must announce every change to the
     * client, including the smallest size that was set between two blocks (RFC 7541, 4.2). For this purpose, the
     * encoder must be informed of all changes.
     */
    @Override
    public void maxHeaderTableSize(long most) throws Http2Exception {
        long size = Math.min(most, Http2CodecUtil.DEFAULT_HEADER_TABLE_SIZE);
        if (size != maxHeaderTableSize()) {
            sizeChanged = true;
            encoder().maxHeaderTableSize(size);
        }
    }

    @Override
    public long maxHeaderTableSize() {
        return encoder == null ? Http2CodecUtil.DEFAULT_HEADER_TABLE_SIZE : encoder.maxHeaderTableSize();
    }

    @Override
    public void maxHeaderListSize(long most) throws Http2Exception {
        if (encoder != null) {
            encoder.maxHeaderListSize(most);
        }
        listBytes = most;
    }

    @Override
    public long maxHeaderListSize() {
        return listBytes;
    }
}
