package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines that end in CR LF, and nothing else: a CR or LF alone ends a line for some readers and not for others.
 * Event loop only.
 */
final class Http1Line {

    private static final byte CR = '\r';
    private static final byte LF = '\n';

    /** How far the present line was looked at, so that a line in many pieces is looked at once. */
    private int seen;

    /**
     * Whether the bytes go on with this line and its end; if so they are passed over. What another reader would make of
     * them was clear when the line came the first time.
     */
    boolean repeats(ByteBuf in, AsciiString line) {
        int start = in.readerIndex();
        int length = line.length();
        if (in.readableBytes() < length + 2
                || in.getByte(start + length) != CR
                || in.getByte(start + length + 1) != LF) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (in.getByte(start + i) != line.byteAt(i)) {
                return false;
            }
        }
        in.skipBytes(length + 2);
        seen = 0;
        return true;
    }

    /**
     * @param most bytes of the line without its end
     * @param tooLong what a longer line is answered with
     * @return null until the line is complete; bytes as they came, one character each
     */
    @Nullable
    AsciiString read(ByteBuf in, int most, HttpResponseStatus tooLong, String what) {
        int start = in.readerIndex();
        int end = in.indexOf(start + seen, in.writerIndex(), LF);
        int length = end < 0 ? in.readableBytes() : end - start - 1;
        if (length > most + (end < 0 ? 1 : 0)) { // an unfinished line may have its CR already
            throw new Http1Violation(tooLong, what + " is longer than " + most + " bytes");
        }
        if (end < 0) {
            seen = in.readableBytes();
            return null;
        }
        seen = 0;
        byte[] line = new byte[Math.max(length, 0)];
        in.readBytes(line);
        if (length < 0 || in.readByte() != CR) {
            throw Http1Violation.badRequest(what + " ends without CR");
        }
        in.skipBytes(1);
        return new AsciiString(line, false);
    }
}
