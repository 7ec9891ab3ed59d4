package tern.rpc.netty.http1;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines that end in CR LF. Rejects a CR without an LF and an LF without a CR, because only some parsers treat
 * them as line ends. Confined to the event loop.
 */
final class Http1Line {

    private static final byte CR = '\r';
    private static final byte LF = '\n';

    /**
     * The number of bytes of the current line that have already been searched for the line end. These bytes are not
     * searched again.
     */
    private int seen;

    /**
     * Returns whether the next bytes equal the given line and its line end. If they are equal, skips them without
     * validation, because the line was validated when it first arrived.
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
     * Reads a line.
     *
     * @param most the maximum length without the line end
     * @param tooLong the status of the answer to a longer line
     * @return the line, with one character per byte; null until the line is complete
     */
    @Nullable
    AsciiString read(ByteBuf in, int most, HttpResponseStatus tooLong, String what) {
        int start = in.readerIndex();
        int end = in.indexOf(start + seen, in.writerIndex(), LF);
        int length = end < 0 ? in.readableBytes() : end - start - 1;
        // the last byte of an incomplete line can be its CR, which does not count
        if (length > most + (end < 0 ? 1 : 0)) {
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
