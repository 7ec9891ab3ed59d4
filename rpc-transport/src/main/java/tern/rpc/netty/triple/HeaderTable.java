package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import io.netty.util.AsciiString;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The encoder's part of the HPACK dynamic table (RFC 7541), with only the features that Tern's requests need. A field
 * is added when it is used for the second time, and from then on takes one or two bytes. Values that differ between
 * calls are never added. A full table accepts no more entries. The table is cleared as a whole, but at most once per
 * 10,000 header blocks. Confined to the event loop.
 */
final class HeaderTable implements Http2HeadersEncoder, Http2HeadersEncoder.Configuration {

    /** The size of an entry in addition to its name and value (RFC 7541, 4.1). */
    private static final int ENTRY_BYTES = 32;

    /** The initial table size of peers (RFC 9113, 6.5.2). The encoder never uses a larger table. */
    private static final int MAX_TABLE_BYTES = 4 << 10;

    /** The number of entries in the static table (RFC 7541, appendix A). */
    private static final int STATIC = 61;

    private static final int MAX_ENTRIES = MAX_TABLE_BYTES / ENTRY_BYTES;
    private static final int MIN_ENTRIES = 8;
    private static final int MAX_SEEN = 1 << 6;
    private static final int MIN_SEEN = 8;

    /** The minimum number of header blocks between two clearings of a full table. */
    private static final int BLOCKS_OF_A_TABLE = 10_000;

    private static final Map<AsciiString, Integer> STATIC_NAMES = new HashMap<>();

    static {
        STATIC_NAMES.put(AsciiString.cached(":authority"), 1);
        STATIC_NAMES.put(AsciiString.cached(":method"), 2);
        STATIC_NAMES.put(AsciiString.cached(":path"), 4);
        STATIC_NAMES.put(AsciiString.cached(":scheme"), 6);
        STATIC_NAMES.put(AsciiString.cached("authorization"), 23);
        STATIC_NAMES.put(AsciiString.cached("content-type"), Http2Frames.CONTENT_TYPE);
        STATIC_NAMES.put(AsciiString.cached("user-agent"), 58);
    }

    // The names and the values of the entries. Both arrays grow on demand, because most connections need few entries.
    private @Nullable AsciiString[] names = new @Nullable AsciiString[MIN_ENTRIES];
    private @Nullable AsciiString[] values = new @Nullable AsciiString[MIN_ENTRIES];
    // a hash table; each slot contains an entry's number plus one, or 0 if the slot is free
    private short[] places = new short[2 * MIN_ENTRIES];
    // the hashes of recent fields that were used only once; a second use adds a field to the table
    private int[] seen = new int[MIN_SEEN];
    private int nextSeen;
    private int entries;
    private int bytes;
    private int blocks; // the number of header blocks since the table was last cleared
    // the index of an entry with the name of the timeout header; -1 if there is no such entry
    private int timeoutName = -1;
    private int capacity = MAX_TABLE_BYTES;
    private long settled = Http2CodecUtil.DEFAULT_HEADER_TABLE_SIZE;
    private long listBytes = Long.MAX_VALUE;
    private boolean emptied; // true if the next header block must announce that the table has been cleared

    @Override
    public Http2HeadersEncoder.Configuration configuration() {
        return this;
    }

    @Override
    public void maxHeaderTableSize(long most) {
        settled = most;
        int allowed = (int) Math.min(MAX_TABLE_BYTES, most);
        if (allowed != capacity) {
            capacity = allowed;
            empty(); // empty() makes the next header block announce the new size
        }
    }

    @Override
    public long maxHeaderTableSize() {
        return settled;
    }

    @Override
    public void maxHeaderListSize(long most) {
        listBytes = most;
    }

    @Override
    public long maxHeaderListSize() {
        return listBytes;
    }

    @Override
    public void encodeHeaders(int streamId, Http2Headers headers, ByteBuf out) throws Http2Exception {
        long size = 0;
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            size += field.getKey().length() + field.getValue().length() + ENTRY_BYTES;
        }
        if (size > listBytes) {
            Http2CodecUtil.headerListSizeExceeded(streamId, listBytes, false);
        }
        begin(out);
        for (Map.Entry<CharSequence, CharSequence> field : headers) {
            write(out, AsciiString.of(field.getKey()), AsciiString.of(field.getValue()));
        }
    }

    void begin(ByteBuf out) {
        blocks++;
        if (emptied) {
            emptied = false;
            Http2Frames.number(out, Http2Frames.TABLE_SIZE, 5, 0);
            if (capacity > 0) {
                Http2Frames.number(out, Http2Frames.TABLE_SIZE, 5, capacity);
            }
        }
    }

    /** Writes a field of the header block. The field takes at most 20 bytes in addition to its name and value. */
    void write(ByteBuf out, AsciiString name, AsciiString value) {
        if (name.equals(GrpcHeaders.TIMEOUT)) {
            writeTimeout(out, value);
            return;
        }
        int hash = hash(name, value);
        int place = place(hash, name, value);
        if (places[place] != 0) {
            Http2Frames.number(out, Http2Frames.INDEXED, 7, index(places[place] - 1));
            return;
        }
        if (cameBefore(hash) && remember(name, value)) {
            places[place(hash, name, value)] = (short) entries;
            literal(out, Http2Frames.REMEMBERED, 6, name, value);
        } else {
            literal(out, Http2Frames.NOT_REMEMBERED, 4, name, value);
        }
    }

    private boolean cameBefore(int hash) {
        for (int one : seen) {
            if (one == hash) {
                return true;
            }
        }
        if (nextSeen == seen.length) {
            if (nextSeen < MAX_SEEN) {
                seen = Arrays.copyOf(seen, nextSeen * 2);
            } else {
                nextSeen = 0;
            }
        }
        seen[nextSeen++] = hash;
        return false;
    }

    private static int hash(AsciiString name, AsciiString value) {
        return name.hashCode() * 31 + value.hashCode();
    }

    /**
     * Writes the timeout header. Only the header's name is added to the table, because the remaining time differs
     * between calls.
     */
    private void writeTimeout(ByteBuf out, AsciiString value) {
        if (timeoutName >= 0) {
            Http2Frames.number(out, Http2Frames.NOT_REMEMBERED, 4, index(timeoutName));
            Http2Frames.text(out, value);
        } else if (remember(GrpcHeaders.TIMEOUT, value)) {
            timeoutName = entries - 1;
            literal(out, Http2Frames.REMEMBERED, 6, GrpcHeaders.TIMEOUT, value);
        } else {
            literal(out, Http2Frames.NOT_REMEMBERED, 4, GrpcHeaders.TIMEOUT, value);
        }
    }

    private static void literal(ByteBuf out, int first, int prefixBits, AsciiString name, AsciiString value) {
        Integer known = STATIC_NAMES.get(name);
        Http2Frames.number(out, first, prefixBits, known == null ? 0 : known);
        if (known == null) {
            Http2Frames.text(out, name);
        }
        Http2Frames.text(out, value);
    }

    /** Returns the HPACK index of an entry. The newest entry has the lowest index. */
    private int index(int entry) {
        return STATIC + entries - entry;
    }

    private boolean remember(AsciiString name, AsciiString value) {
        int size = name.length() + value.length() + ENTRY_BYTES;
        if (entries == MAX_ENTRIES || bytes + size > capacity) {
            if (blocks > BLOCKS_OF_A_TABLE) {
                // the next header block clears the peer's table; the current header block might still refer to old
                // entries
                empty();
            }
            return false;
        }
        if (emptied) {
            return false;
        }
        if (entries == names.length) {
            grow();
        }
        names[entries] = name;
        values[entries] = value;
        entries++;
        bytes += size;
        return true;
    }

    private void grow() {
        names = Arrays.copyOf(names, entries * 2);
        values = Arrays.copyOf(values, entries * 2);
        places = new short[entries * 4];
        for (int entry = 0; entry < entries; entry++) {
            AsciiString name = Objects.requireNonNull(names[entry]);
            AsciiString value = Objects.requireNonNull(values[entry]);
            // the hash table does not contain the timeout entry, because only the name of that entry is used
            if (entry != timeoutName) {
                places[place(hash(name, value), name, value)] = (short) (entry + 1);
            }
        }
    }

    private void empty() {
        Arrays.fill(places, (short) 0);
        Arrays.fill(names, null);
        Arrays.fill(values, null);
        entries = 0;
        bytes = 0;
        blocks = 0;
        timeoutName = -1;
        emptied = true;
    }

    /** Returns the slot of the entry in the hash table, or the free slot in which the entry would be stored. */
    private int place(int hash, AsciiString name, AsciiString value) {
        int place = (hash ^ hash >>> 16) & (places.length - 1);
        while (places[place] != 0) {
            int entry = places[place] - 1;
            if (same(values[entry], value) && same(names[entry], name)) {
                break;
            }
            place = (place + 1) & (places.length - 1);
        }
        return place;
    }

    private static boolean same(@Nullable AsciiString one, AsciiString other) {
        return other.equals(one);
    }
}
