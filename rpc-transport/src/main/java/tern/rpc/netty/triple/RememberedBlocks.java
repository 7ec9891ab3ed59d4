package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Knows blocks of headers again by their bytes, so that those which come in call after call are read once. Everything else
 * is read, and checked, by the decoder inside; so is what is remembered, when it comes first and when it comes for the
 * second time.
 *
 * <p>What a block says depends on its bytes, the decoder's settings and the table that both ends keep (RFC 7541, 2.3.2). So
 * everything is forgotten with each block that may change the table, which is any but one that is made of fields with an
 * index and of texts that are to be kept nowhere, and with each change of the settings. A block with a text that nobody may
 * keep (6.2.3) is not remembered, nor one with the length of a body.
 *
 * <p>Holds {@value #PLACES} blocks of {@value #MOST_BYTES} bytes and {@value #MOST_FIELDS} fields at the most. Event loop
 * only.
 */
final class RememberedBlocks implements Http2HeadersDecoder, Http2HeadersDecoder.Configuration {

    private static final int PLACES = 32;
    private static final int MOST_BYTES = 128;

    /** Fields that are known again are looked through one by one. */
    private static final int MOST_FIELDS = 32;

    private record Known(byte[] block, Http2Headers headers) {}

    private final Http2HeadersDecoder decoder;
    private final @Nullable Known[] known = new @Nullable Known[PLACES];
    private final int[] seen = new int[PLACES]; // hashes of blocks that came once
    private final byte[] block = new byte[MOST_BYTES]; // the present one
    private boolean empty = true;

    /** @param decoder whose headers are not changed by those who get them */
    RememberedBlocks(Http2HeadersDecoder decoder) {
        this.decoder = decoder;
    }

    /** @return which cannot be changed if the block was remembered */
    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf in) throws Http2Exception {
        int length = in.readableBytes();
        if (length > MOST_BYTES) {
            forget();
            return decoder.decodeHeaders(streamId, in);
        }
        in.getBytes(in.readerIndex(), block, 0, length);
        int hash = hash(length);
        int place = (hash ^ hash >>> 16) & (PLACES - 1);
        Known candidate = known[place];
        if (candidate != null && Arrays.equals(candidate.block, 0, candidate.block.length, block, 0, length)) {
            in.skipBytes(length);
            return candidate.headers;
        }
        BlockKind kind = BlockKind.of(block, length);
        if (kind == BlockKind.CHANGES_THE_TABLE) {
            forget(); // before it is read, since it may fail after it has changed something
        }
        Http2Headers headers = decoder.decodeHeaders(streamId, in);
        if (kind == BlockKind.MAY_BE_KEPT) {
            if (seen[place] == hash && isKept(headers)) {
                known[place] = new Known(Arrays.copyOf(block, length), readOnly(headers));
                empty = false;
            }
            seen[place] = hash;
        }
        return headers;
    }

    private int hash(int length) {
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + block[i];
        }
        return hash;
    }

    private void forget() {
        if (!empty) {
            Arrays.fill(known, null);
            empty = true;
        }
    }

    /** Netty's connection decoder writes a length that it has checked back into the headers. */
    private static boolean isKept(Http2Headers headers) {
        return headers.size() <= MOST_FIELDS && !headers.contains(HttpHeaderNames.CONTENT_LENGTH);
    }

    /** With the same fields in the same order; those of HTTP/2's own were among the others' place before, too. */
    private static Http2Headers readOnly(Http2Headers headers) {
        AsciiString[] pairs = new AsciiString[headers.size() * 2];
        int next = 0;
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            pairs[next++] = AsciiString.of(field.getKey());
            pairs[next++] = AsciiString.of(field.getValue());
        }
        return ReadOnlyHttp2Headers.trailers(false, pairs); // they were validated when they were read
    }

    @Override
    public Configuration configuration() {
        return this;
    }

    @Override
    public void maxHeaderTableSize(long most) throws Http2Exception {
        forget();
        decoder.configuration().maxHeaderTableSize(most);
    }

    @Override
    public long maxHeaderTableSize() {
        return decoder.configuration().maxHeaderTableSize();
    }

    @Override
    public void maxHeaderListSize(long most, long goAway) throws Http2Exception {
        forget();
        decoder.configuration().maxHeaderListSize(most, goAway);
    }

    @Override
    public long maxHeaderListSize() {
        return decoder.configuration().maxHeaderListSize();
    }

    @Override
    public long maxHeaderListSizeGoAway() {
        return decoder.configuration().maxHeaderListSizeGoAway();
    }
}
