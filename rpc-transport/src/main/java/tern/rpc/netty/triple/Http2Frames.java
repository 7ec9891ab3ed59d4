package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.util.AsciiString;

/** Frames of HTTP/2 as bytes (RFC 9113, 4.1 and 6), and fields of a block of headers that every peer knows (RFC 7541). */
final class Http2Frames {

    static final int HEAD_BYTES = 9;

    static final int DATA = 0x0;
    static final int HEADERS = 0x1;

    /** Flag of DATA and HEADERS. */
    static final int END_STREAM = 0x1;

    /** Flag of HEADERS. */
    static final int END_HEADERS = 0x4;

    /** The largest frame that every peer takes (RFC 9113, 6.5.2). */
    static final int MAX_BYTES = 16 << 10;

    /** First byte of a field with an index into the tables (RFC 7541, 6.1). */
    static final int INDEXED = 0x80;

    /** Of a field that both sides remember (6.2.1). */
    static final int REMEMBERED = 0x40;

    /** Of a field that nobody remembers (6.2.2). */
    static final int NOT_REMEMBERED = 0x00;

    /** Of a field that nobody on the way may remember either (6.2.3). */
    static final int NEVER_REMEMBERED = 0x10;

    /** Of a new size of the table (6.3). */
    static final int TABLE_SIZE = 0x20;

    /** {@code :status: 200} in the static table (RFC 7541, appendix A). */
    static final int STATUS_200 = 8;

    /** {@code content-type} there. */
    static final int CONTENT_TYPE = 31;

    private Http2Frames() {}

    static void head(ByteBuf out, int bytes, int type, int flags, int stream) {
        out.writeMedium(bytes).writeByte(type).writeByte(flags).writeInt(stream);
    }

    /** Leaves room for a head, to be filled by {@link #end}. */
    static int begin(ByteBuf out) {
        int start = out.writerIndex();
        out.writeZero(HEAD_BYTES);
        return start;
    }

    /** Everything since {@link #begin} is the payload of the frame. */
    static void end(ByteBuf out, int start, int type, int flags, int stream) {
        out.setMedium(start, out.writerIndex() - start - HEAD_BYTES);
        out.setByte(start + 3, type);
        out.setByte(start + 4, flags);
        out.setInt(start + 5, stream);
    }

    /** A number behind some bits of its first byte (RFC 7541, 5.1). */
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

    /** A text without Huffman's code, which costs more time than its bytes do (RFC 7541, 5.2). */
    static void text(ByteBuf out, AsciiString value) {
        number(out, 0, 7, value.length());
        out.writeBytes(value.array(), value.arrayOffset(), value.length());
    }
}
