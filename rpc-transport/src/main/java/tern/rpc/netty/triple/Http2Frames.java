package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;

/** Encodes HTTP/2 frames (RFC 9113, 4.1 and 6) and HPACK header fields (RFC 7541). */
final class Http2Frames {

    static final int HEAD_BYTES = 9;

    static final int DATA = 0x0;
    static final int HEADERS = 0x1;

    /** The flag of DATA and HEADERS frames that end their stream. */
    static final int END_STREAM = 0x1;

    /** The flag of HEADERS frames that end the header block. */
    static final int END_HEADERS = 0x4;

    /** The maximum payload, in bytes, of a frame that every peer accepts (RFC 9113, 6.5.2). */
    static final int MAX_BYTES = 16 << 10;

    /** The first byte of a field that consists of an index into the tables (RFC 7541, 6.1). */
    static final int INDEXED = 0x80;

    /** The first byte of a field with incremental indexing (RFC 7541, 6.2.1). */
    static final int REMEMBERED = 0x40;

    /** The first byte of a field without indexing (RFC 7541, 6.2.2). */
    static final int NOT_REMEMBERED = 0x00;

    /** The first byte of a field that is never indexed (RFC 7541, 6.2.3). */
    static final int NEVER_REMEMBERED = 0x10;

    /** The first byte of a table size update (RFC 7541, 6.3). */
    static final int TABLE_SIZE = 0x20;

    /** The index of {@code :status: 200} in the static table (RFC 7541, appendix A). */
    static final int STATUS_200 = 8;

    /** The index of {@code content-type} in the static table (RFC 7541, appendix A). */
    static final int CONTENT_TYPE = 31;

    private Http2Frames() {}

    static void head(ByteBuf out, int bytes, int type, int flags, int stream) {
        out.writeMedium(bytes).writeByte(type).writeByte(flags).writeInt(stream);
    }

    /** Reserves space for a frame header. {@link #end} writes the header. */
    static int begin(ByteBuf out) {
        int start = out.writerIndex();
        out.writeZero(HEAD_BYTES);
        return start;
    }

    /** Writes the frame header. The payload consists of all bytes written since {@link #begin}. */
    static void end(ByteBuf out, int start, int type, int flags, int stream) {
        out.setMedium(start, out.writerIndex() - start - HEAD_BYTES);
        out.setByte(start + 3, type);
        out.setByte(start + 4, flags);
        out.setInt(start + 5, stream);
    }

    /** Writes an HPACK integer. The high bits of its first byte belong to another field (RFC 7541, 5.1). */
    static void number(ByteBuf out, int first, int prefixBits, int value) {
        int most = (1 << prefixBits) - 1;
        if (value < most) {
            out.writeByte(first | value);
            return;
        }
        out.writeByte(first | most);
        int rest = value - most;
        while (rest > 0x7F) {
            out.writeByte((rest & 0x7F) | 0x80);
            rest >>>= 7;
        }
        out.writeByte(rest);
    }

    /** Writes a string literal without Huffman coding, which would take more time than it saves (RFC 7541, 5.2). */
    static void text(ByteBuf out, AsciiString value) {
        number(out, 0, 7, value.length());
        out.writeBytes(value.array(), value.arrayOffset(), value.length());
    }
}
