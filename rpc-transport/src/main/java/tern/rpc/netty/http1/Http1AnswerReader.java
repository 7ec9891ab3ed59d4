package tern.rpc.netty.http1;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Parses the answers on a connection (RFC 9112), one after another, as strictly as {@link Http1HeadReader} parses
 * requests. If two parsers disagreed about the end of an answer, an attacker could forge the next answer. Only one
 * thread at a time uses a reader.
 */
public final class Http1AnswerReader {

    /** The maximum length of a status line (docs/limits.md). */
    private static final int LINE_BYTES = 4 << 10;

    private static final int FIELDS_BYTES = 32 << 10;

    /** The maximum initial size of the buffer for a body. The buffer for a larger body grows as its bytes arrive. */
    private static final int TRUSTED_BYTES = 64 << 10;

    private static final int LENGTH_DIGITS = 18;

    /** The maximum number of interim answers (1xx) before an answer (docs/limits.md). */
    public static final int MAX_INTERIMS = 16;

    /**
     * The maximum number of header lines that are compared with the lines of the previous answer. Servers usually
     * repeat their header lines, and a repeated line need not be parsed.
     */
    private static final int REPEATED_FIELDS = 16;

    private static final int REPEATED_BYTES = 256;
    private static final byte[] NOTHING = {};
    private static final AsciiString HTTP_1 = AsciiString.cached("HTTP/1.");

    /** A valid header line, with the name and value parsed from it. */
    private record Field(AsciiString line, Map.Entry<CharSequence, CharSequence> entry) {}

    private record StatusLine(AsciiString line, int status, boolean http10) {}

    private final Http1Line lines = new Http1Line();
    private final @Nullable Field[] last = new @Nullable Field[REPEATED_FIELDS];
    private final int maxBytes;
    private final IntFunction<@Nullable String> memory;
    private @Nullable StatusLine lastStatus;
    private @Nullable StatusLine status; // the status line of the answer whose headers are being read
    private List<Map.Entry<CharSequence, CharSequence>> fields = List.of();
    private int lineCount;
    private int fieldBytes;
    private @Nullable AsciiString length;
    private @Nullable AsciiString coding;
    private boolean close;
    private boolean keepAlive;
    private boolean keepsAlive;
    private boolean inBody;
    private int interims; // the number of interim answers before the current answer
    private @Nullable Http1Body chunks;
    private byte[] body = NOTHING;
    // the number of received body bytes
    private int bodyBytes;
    // the number of expected body bytes; for a chunked body, the number of bytes received so far
    private int announced;

    /**
     * @param maxBytes the maximum size of a body
     * @param memory called with the size of the buffer for the current body before the buffer grows, and with 0 when
     *     the answer is complete; returns the reason if the buffer may not grow, otherwise null
     */
    public Http1AnswerReader(int maxBytes, IntFunction<@Nullable String> memory) {
        this.maxBytes = maxBytes;
        this.memory = memory;
    }

    /**
     * Parses the next answer. Skips interim answers (1xx).
     *
     * @return the answer; null until it is complete
     * @throws Http1Violation if the bytes are not a valid answer, or the answer is too long; no other answer can then
     *     be read from the connection
     */
    @Nullable
    public Http1Answer read(ByteBuf in) {
        while (inBody || readHead(in)) {
            StatusLine current = status;
            if (current == null) {
                throw new IllegalStateException("a body without a head");
            }
            if (!inBody && current.status / 100 == 1) {
                if (current.status == 101) {
                    throw Http1Violation.badRequest("it switches to a protocol that the client did not request");
                }
                if (++interims > MAX_INTERIMS) {
                    throw Http1Violation.badRequest("it has more than " + MAX_INTERIMS + " interim answers (1xx)");
                }
                status = null;
                continue;
            }
            if (!inBody) {
                beginBody(current);
            }
            return readBody(in) ? ended(current) : null;
        }
        return null;
    }

    /** Returns whether the connection can be reused after the most recent answer. */
    public boolean keepsAlive() {
        return keepsAlive;
    }

    /**
     * Returns the number of body bytes that have not arrived yet. Returns 0 for a chunked body, because its length is
     * unknown.
     */
    public int missingBytes() {
        return inBody ? announced - bodyBytes : 0;
    }

    // ---- header parsing

    /** @return whether the status line and the headers are complete */
    private boolean readHead(ByteBuf in) {
        StatusLine begun = status;
        if (begun == null) {
            begun = readStatus(in);
            if (begun == null) {
                return false;
            }
            status = begun;
            fields = new ArrayList<>(8);
            lineCount = 0;
            fieldBytes = 0;
            length = null;
            coding = null;
            close = false;
            keepAlive = false;
        }
        while (true) {
            Field same = lineCount < REPEATED_FIELDS ? last[lineCount] : null;
            if (same != null && lines.repeats(in, same.line)) {
                lineCount++;
                take(same, same.line.length());
                continue;
            }
            AsciiString line = lines.read(
                    in,
                    FIELDS_BYTES - fieldBytes,
                    HttpResponseStatus.BAD_REQUEST,
                    "the part of the header that is left of " + FIELDS_BYTES + " bytes");
            if (line == null) {
                return false;
            }
            if (line.isEmpty()) {
                return true;
            }
            Field field = field(line);
            if (lineCount < REPEATED_FIELDS && line.length() <= REPEATED_BYTES) {
                last[lineCount] = field;
            }
            lineCount++;
            take(field, line.length());
        }
    }

    private @Nullable StatusLine readStatus(ByteBuf in) {
        StatusLine same = lastStatus;
        if (same != null && lines.repeats(in, same.line)) {
            return same;
        }
        AsciiString line = lines.read(in, LINE_BYTES, HttpResponseStatus.BAD_REQUEST, "the status line");
        if (line == null) {
            checkBeginning(in);
            return null;
        }
        boolean named = line.length() >= 12
                && line.startsWith(HTTP_1)
                && (line.byteAt(7) == '0' || line.byteAt(7) == '1')
                && line.byteAt(8) == ' '
                && (line.length() == 12 || line.byteAt(12) == ' ');
        if (!named || !Http1Characters.isValue(line)) {
            throw Http1Violation.badRequest("the status line is not a version, three digits and a reason");
        }
        int code = 0;
        for (int i = 9; i < 12; i++) {
            int digit = line.byteAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw Http1Violation.badRequest("the status is not three digits");
            }
            code = code * 10 + digit;
        }
        if (code < 100) {
            throw Http1Violation.badRequest("the status " + code + " is less than 100");
        }
        StatusLine read = new StatusLine(line, code, line.byteAt(7) == '0');
        lastStatus = line.length() <= REPEATED_BYTES ? read : null;
        return read;
    }

    /** Rejects an incomplete status line that cannot become valid, because its rest might never arrive. */
    private static void checkBeginning(ByteBuf in) {
        int bytes = Math.min(in.readableBytes(), HTTP_1.length());
        for (int i = 0; i < bytes; i++) {
            if (in.getByte(in.readerIndex() + i) != HTTP_1.byteAt(i)) {
                throw Http1Violation.badRequest("the status line does not begin with " + HTTP_1);
            }
        }
    }

    private static Field field(AsciiString line) {
        int colon = line.indexOf(':', 0);
        AsciiString name = colon < 0 ? AsciiString.EMPTY_STRING : line.subSequence(0, colon);
        // A line that begins with a space is rejected too. Obsolete line folding (RFC 9112, 5.2) treats such a line as
        // a continuation of the previous line.
        if (!Http1Characters.isToken(name)) {
            throw Http1Violation.badRequest("a header field does not begin with a name and a colon");
        }
        AsciiString value = Http1Characters.withoutSpace(line, colon + 1);
        if (!Http1Characters.isValue(value)) {
            throw Http1Violation.badRequest("the header field " + name + " has control characters");
        }
        return new Field(line, Map.entry(name.toLowerCase(), value));
    }

    private void take(Field field, int lineBytes) {
        fieldBytes += lineBytes + 2;
        if (fieldBytes > FIELDS_BYTES) {
            throw Http1Violation.badRequest("the header has more than " + FIELDS_BYTES + " bytes");
        }
        AsciiString value = (AsciiString) field.entry.getValue();
        switch (((AsciiString) field.entry.getKey()).toString()) {
            case "content-length" -> length = once(length, value, "content-length");
            case "transfer-encoding" -> coding = once(coding, value, "transfer-encoding");
            case "connection" -> {
                for (AsciiString token : value.toLowerCase().split(',')) {
                    close |= token.trim().contentEquals("close");
                    keepAlive |= token.trim().contentEquals("keep-alive");
                }
            }
            default -> fields.add(field.entry);
        }
    }

    private static AsciiString once(@Nullable AsciiString before, AsciiString value, String name) {
        if (before != null) {
            throw Http1Violation.badRequest("the header field " + name + " occurs twice");
        }
        return value;
    }

    // ---- body parsing

    private void beginBody(StatusLine head) {
        inBody = true;
        bodyBytes = 0;
        announced = 0;
        chunks = null;
        keepsAlive = !close && (!head.http10 || keepAlive);
        if (head.status == 204 || head.status == 304) {
            return;
        }
        if (coding != null) {
            if (length != null) {
                throw Http1Violation.badRequest("content-length and transfer-encoding contradict each other");
            }
            if (head.http10 || !coding.contentEqualsIgnoreCase("chunked")) {
                throw Http1Violation.badRequest("transfer-encoding may only be 'chunked', and only in HTTP/1.1");
            }
            chunks = new Http1Body(Http1Head.CHUNKED);
        } else if (length != null) {
            announced = length(length);
            body = new byte[Math.min(announced, TRUSTED_BYTES)];
        } else if (head.status / 100 != 2) {
            // Old proxies send errors without a body length. The status is enough to report the error, so the body is
            // not read and the connection is not reused.
            keepsAlive = false;
        } else {
            throw Http1Violation.badRequest(
                    "it has neither a length nor chunks, so its end looks the same as a lost connection");
        }
    }

    private int length(AsciiString claimed) {
        if (claimed.isEmpty() || claimed.length() > LENGTH_DIGITS) {
            throw Http1Violation.badRequest("content-length does not have 1 to " + LENGTH_DIGITS + " digits");
        }
        long bytes = 0;
        for (int i = 0; i < claimed.length(); i++) {
            int digit = claimed.byteAt(i) - '0';
            if (digit < 0 || digit > 9) {
                throw Http1Violation.badRequest("content-length is not a number");
            }
            bytes = bytes * 10 + digit;
        }
        if (bytes > maxBytes) {
            throw tooLarge();
        }
        return (int) bytes;
    }

    private Http1Violation tooLarge() {
        return new Http1Violation(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE,
                "its answer has more than " + maxBytes + " bytes (set by rpc.limits.max-response)");
    }

    /** @return whether the body is complete */
    private boolean readBody(ByteBuf in) {
        Http1Body chunked = chunks;
        if (chunked == null) {
            take(in, Math.min(in.readableBytes(), announced - bodyBytes));
            return bodyBytes == announced;
        }
        for (ByteBuf piece = chunked.read(in); piece != null; piece = chunked.read(in)) {
            try {
                if (bodyBytes + piece.readableBytes() > maxBytes) {
                    throw tooLarge();
                }
                announced = bodyBytes + piece.readableBytes();
                take(piece, piece.readableBytes());
            } finally {
                piece.release();
            }
        }
        return chunked.isEnded();
    }

    private void take(ByteBuf in, int bytes) {
        if (bodyBytes + bytes > body.length) {
            int doubled = (int) Math.min(Integer.MAX_VALUE, 2L * body.length);
            int most = chunks == null ? announced : maxBytes;
            int grown = Math.max(bodyBytes + bytes, Math.min(doubled, most));
            String refusal = memory.apply(grown);
            if (refusal != null) {
                throw new Http1Violation(
                        HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "its answer is not read completely: " + refusal);
            }
            body = Arrays.copyOf(body, grown);
        }
        in.readBytes(body, bodyBytes, bytes);
        bodyBytes += bytes;
    }

    private Http1Answer ended(StatusLine head) {
        Http1Answer answer = new Http1Answer(head.status, fields, body, bodyBytes);
        status = null;
        interims = 0;
        fields = List.of();
        inBody = false;
        chunks = null;
        body = NOTHING;
        var unused = memory.apply(0);
        return answer;
    }
}
