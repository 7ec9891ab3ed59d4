package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.ReadOnlyHttp2Headers;
import io.netty.util.AsciiString;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache of decoded header blocks, with the encoded bytes as keys. A block is cached when it arrives for the second
 * time. Netty's decoder decodes and validates only the blocks that are not in the cache. The decoder is created for the
 * first block, because its table occupies as much memory as the rest of an idle connection's codec.
 *
 * <p>The fields of a block depend on its bytes, on the decoder's settings and on the dynamic table (RFC 7541, 2.3.2).
 * Therefore the cache is cleared when the settings change, and by each block that might change the table. A block with
 * a literal that must never be indexed (6.2.3), or with a content length, is not cached.
 *
 * <p>Holds at most {@value #MAX_PLACES} blocks of at most {@value #MAX_BYTES} bytes and {@value #MAX_FIELDS} fields
 * each. Confined to the event loop.
 */
final class RememberedBlocks implements Http2HeadersDecoder, Http2HeadersDecoder.Configuration {

    private static final int MAX_PLACES = 32;
    private static final int MIN_PLACES = 4;
    private static final int MAX_BYTES = 128;

    /**
     * The maximum encoded size of any block. A longer block ends the connection. If a shorter block has too many
     * decoded bytes, it ends only its stream. Netty's maximum is 40 KiB, but some proxies accept longer headers, such
     * as 60 KiB. A single caller behind such a proxy could then end the calls of all callers that share the proxy's
     * connection.
     */
    static final int MAX_BLOCK_BYTES = 128 << 10;

    /**
     * The maximum number of fields in a cached block. A lookup in cached headers takes linear time, so lookups in a
     * block with many fields would be slow.
     */
    private static final int MAX_FIELDS = 32;

    private static final long HASH_FACTOR =
            0x9E3779B97F4A7C15L; // 2^64 divided by the golden ratio, the usual factor of Fibonacci hashing
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private record Known(int hash, byte[] block, Http2Headers headers) {}

    private final Supplier<Http2HeadersDecoder> source;
    private final int listBytes;
    private @Nullable Http2HeadersDecoder decoder;
    // the cached blocks, indexed by hash; the array grows when the hashes of two blocks collide
    private @Nullable Known @Nullable [] known;
    private int lastBytes;
    // hash fragments, one byte each, of the blocks that recently arrived for the first time; indexed by hash
    private byte @Nullable [] seen;

    /**
     * @param source creates the decoder; the decoded headers must not be changed
     * @param listBytes the maximum size of a block's fields, in bytes; the decoder has the same limit
     */
    RememberedBlocks(Supplier<Http2HeadersDecoder> source, int listBytes) {
        this.source = source;
        this.listBytes = listBytes;
    }

    private Http2HeadersDecoder decoder() {
        Http2HeadersDecoder made = decoder;
        if (made == null) {
            made = source.get();
            decoder = made;
        }
        return made;
    }

    /** @return the headers; immutable if the block was cached */
    @Override
    public Http2Headers decodeHeaders(int streamId, ByteBuf in) throws Http2Exception {
        int start = in.readerIndex();
        int length = in.readableBytes();
        lastBytes = length;
        if (length > MAX_BYTES) {
            known = null;
            return decoder().decodeHeaders(streamId, in);
        }
        int hash = hash(in, start, length);
        Known candidate = known == null ? null : known[hash & (known.length - 1)];
        if (candidate != null && candidate.hash == hash && isSame(candidate.block, in, start, length)) {
            in.skipBytes(length);
            return candidate.headers;
        }
        BlockKind kind = BlockKind.of(in);
        if (kind == BlockKind.CHANGES_THE_TABLE) {
            // the cache is cleared before decoding, because decoding can fail after it has changed the dynamic table
            known = null;
        }
        Http2Headers headers = decoder().decodeHeaders(streamId, in);
        if (kind == BlockKind.MAY_BE_KEPT && cameBefore(hash) && isKept(headers)) {
            byte[] block = new byte[length];
            in.getBytes(start, block);
            keep(new Known(hash, block, readOnly(headers)));
        }
        return headers;
    }

    /** Returns the encoded size of the last header block, in bytes. */
    int lastBytes() {
        return lastBytes;
    }

    /**
     * Returns whether a block with this hash arrived recently. Compares only a part of the hash. A false positive is
     * harmless: the block is then cached when it arrives for the first time instead of the second.
     */
    private boolean cameBefore(int hash) {
        byte[] hashes = seen;
        if (hashes == null) {
            hashes = new byte[MAX_PLACES];
            seen = hashes;
        }
        int place = hash & (MAX_PLACES - 1);
        byte part = (byte) ((hash >>> 24) | 1); // the hash fragment is never 0, because 0 represents an empty slot
        boolean before = hashes[place] == part;
        hashes[place] = part;
        return before;
    }

    private void keep(Known block) {
        Known[] places = known == null ? new Known[MIN_PLACES] : known;
        while (places[block.hash & (places.length - 1)] != null && places.length < MAX_PLACES) {
            Known[] more = new Known[places.length * 2];
            for (Known one : places) {
                if (one != null) {
                    more[one.hash & (more.length - 1)] = one;
                }
            }
            places = more;
        }
        places[block.hash & (places.length - 1)] = block;
        known = places;
    }

    private static int hash(ByteBuf in, int start, int length) {
        long hash = length;
        int end = start + length;
        int at = start;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = (hash ^ in.getLong(at)) * HASH_FACTOR;
            hash ^= hash >>> 32;
        }
        for (; at < end; at++) {
            hash = (hash ^ in.getByte(at)) * HASH_FACTOR;
        }
        return (int) (hash >>> 32);
    }

    private static boolean isSame(byte[] block, ByteBuf in, int start, int length) {
        if (block.length != length) {
            return false;
        }
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            if ((long) LONGS.get(block, at) != in.getLong(start + at)) {
                return false;
            }
        }
        for (; at < length; at++) {
            if (block[at] != in.getByte(start + at)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns whether the block may be cached. A block with a content length is never cached, because Netty's
     * connection decoder changes its headers.
     */
    private static boolean isKept(Http2Headers headers) {
        return headers.size() <= MAX_FIELDS && !headers.contains(HttpHeaderNames.CONTENT_LENGTH);
    }

    /** Returns a read-only copy with the same fields in the same order. Pseudo-headers therefore stay first. */
    private static Http2Headers readOnly(Http2Headers headers) {
        AsciiString[] pairs = new AsciiString[headers.size() * 2];
        int next = 0;
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            pairs[next++] = AsciiString.of(field.getKey());
            pairs[next++] = AsciiString.of(field.getValue());
        }
        // the headers are not validated again, because the decoder has validated the fields
        return ReadOnlyHttp2Headers.trailers(false, pairs);
    }

    @Override
    public Configuration configuration() {
        return this;
    }

    @Override
    public void maxHeaderTableSize(long most) throws Http2Exception {
        known = null;
        decoder().configuration().maxHeaderTableSize(most);
    }

    @Override
    public long maxHeaderTableSize() {
        return decoder().configuration().maxHeaderTableSize();
    }

    @Override
    public void maxHeaderListSize(long most, long goAway) throws Http2Exception {
        if (decoder == null && most == listBytes && goAway == Http2CodecUtil.calculateMaxHeaderListSizeGoAway(most)) {
            // The decoder does not exist yet and will be created with this value, so there is nothing to do. Netty
            // calls this method again each time the peer acknowledges the settings.
            return;
        }
        known = null;
        decoder().configuration().maxHeaderListSize(most, goAway);
    }

    @Override
    public long maxHeaderListSize() {
        return decoder().configuration().maxHeaderListSize();
    }

    @Override
    public long maxHeaderListSizeGoAway() {
        return MAX_BLOCK_BYTES;
    }
}
