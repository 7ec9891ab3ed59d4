package tern.rpc.netty.http1;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of a request, which either has a known length or is chunked (RFC 9112, 7.1). Confined to the event
 * loop.
 */
public final class Http1Body {

    /** The maximum total size of chunk extensions and trailers, which the reader skips. */
    private static final int ASIDE_BYTES = 8 << 10;

    private static final int SIZE_DIGITS = 8;

    private enum State {
        SIZE,
        CONTENT,
        CONTENT_END,
        TRAILERS,
        END
    }

    private final Http1Line lines = new Http1Line();
    private final boolean chunked;
    private State state;
    private long left;
    private int aside;

    /** @param bytes the length of the body, or {@link Http1Head#CHUNKED} */
    public Http1Body(long bytes) {
        this.chunked = bytes == Http1Head.CHUNKED;
        this.left = chunked ? 0 : bytes;
        this.state = chunked ? State.SIZE : left == 0 ? State.END : State.CONTENT;
    }

    public boolean isEnded() {
        return state == State.END;
    }

    /**
     * Returns whether at most the given number of body bytes are still missing. Returns false for an incomplete chunked
     * body, because its length is unknown.
     */
    public boolean endsWithin(int bytes) {
        return isEnded() || (!chunked && left <= bytes);
    }

    /**
     * Returns the next piece of the body.
     *
     * @return the piece, which the caller must release; null if no more bytes have arrived or the body has ended
     * @throws Http1Violation if a chunk is malformed
     */
    @Nullable
    public ByteBuf read(ByteBuf in) {
        while (in.isReadable() || state == State.END) {
            switch (state) {
                case SIZE -> {
                    if (!readSize(in)) {
                        return null;
                    }
                }
                case CONTENT -> {
                    return content(in);
                }
                case CONTENT_END -> {
                    if (line(in, 0, "the end of a chunk") == null) {
                        return null;
                    }
                    state = State.SIZE;
                }
                case TRAILERS -> {
                    AsciiString trailer = line(in, asideLeft(), "the trailer section");
                    if (trailer == null) {
                        return null;
                    }
                    checkTrailer(trailer);
                }
                case END -> {
                    return null;
                }
            }
        }
        return null;
    }

    private ByteBuf content(ByteBuf in) {
        int length = (int) Math.min(left, in.readableBytes());
        left -= length;
        if (left == 0) {
            state = chunked ? State.CONTENT_END : State.END;
        }
        return in.readRetainedSlice(length);
    }

    private int asideLeft() {
        return Math.max(0, ASIDE_BYTES - aside);
    }

    private @Nullable AsciiString line(ByteBuf in, int most, String what) {
        return lines.read(in, most, HttpResponseStatus.BAD_REQUEST, what);
    }

    private boolean readSize(ByteBuf in) {
        AsciiString line = line(in, SIZE_DIGITS + asideLeft(), "the size of a chunk");
        if (line == null) {
            return false;
        }
        int digits = 0;
        long size = 0;
        while (digits < line.length() && Character.digit(line.charAt(digits), 16) >= 0) {
            size = size << 4 | Character.digit(line.charAt(digits), 16);
            digits++;
        }
        boolean extended = digits < line.length();
        if (digits == 0 || digits > SIZE_DIGITS || (extended && !beginsExtension(line, digits))) {
            throw Http1Violation.badRequest("the size of a chunk is not 1 to " + SIZE_DIGITS + " hexadecimal digits");
        }
        if (!Http1Characters.isValue(line)) {
            throw Http1Violation.badRequest("the extension of a chunk has control characters");
        }
        aside += line.length() - digits;
        left = size;
        state = size == 0 ? State.TRAILERS : State.CONTENT;
        return true;
    }

    /** Returns whether a semicolon follows. Spaces may precede the semicolon (RFC 9112, 7.1.1). */
    private static boolean beginsExtension(AsciiString line, int start) {
        int at = start;
        while (at < line.length() && (line.charAt(at) == ' ' || line.charAt(at) == '\t')) {
            at++;
        }
        return at < line.length() && line.charAt(at) == ';';
    }

    private void checkTrailer(AsciiString trailer) {
        aside += trailer.length() + 2;
        if (trailer.isEmpty()) {
            state = State.END;
        } else if (!Http1Characters.isValue(trailer)
                || !Http1Characters.isToken(trailer.subSequence(0, Math.max(0, trailer.indexOf(':', 0))))) {
            throw Http1Violation.badRequest("a trailer does not begin with a name and a colon");
        }
    }
}
