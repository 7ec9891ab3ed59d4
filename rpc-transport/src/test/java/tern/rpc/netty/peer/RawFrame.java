package tern.rpc.netty.peer;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** A frame of the dubbo protocol with exactly the fields that are transmitted. */
public record RawFrame(int flags, int status, long id, byte[] body) {

    public static final int HEADER_BYTES = 16;
    public static final int TWO_WAY = 0xC2;
    public static final int ONE_WAY = 0x82;
    public static final int HEARTBEAT = 0xE2;
    public static final int HEARTBEAT_ANSWER = 0x22;
    public static final int READ_ONLY = 0xA2;
    public static final int RESPONSE = 0x02;

    private static final short MAGIC = (short) 0xDABB;

    public static RawFrame heartbeat(long id) {
        return new RawFrame(HEARTBEAT, 0, id, new byte[] {'N'});
    }

    public static RawFrame heartbeatAnswer(long id) {
        return new RawFrame(HEARTBEAT_ANSWER, 20, id, new byte[] {'N'});
    }

    public static RawFrame readOnly(long id) {
        return new RawFrame(READ_ONLY, 0, id, new byte[] {1, 'R'});
    }

    /** Returns the first frame in the given bytes. */
    public static RawFrame of(byte[] bytes) {
        return of(bytes, 0);
    }

    public static RawFrame of(byte[] bytes, int offset) {
        ByteBuffer header = ByteBuffer.wrap(bytes, offset, bytes.length - offset);
        if (header.getShort() != MAGIC) {
            throw new AssertionError("no frame: " + HexFormat.of().formatHex(bytes));
        }
        int flags = header.get() & 0xFF;
        int status = header.get() & 0xFF;
        long id = header.getLong();
        byte[] body = new byte[header.getInt()];
        header.get(body);
        return new RawFrame(flags, status, id, body);
    }

    /** Returns a frame header. Tests can pass a length that differs from the body's length. */
    public static byte[] header(int flags, int status, long id, int length) {
        return ByteBuffer.allocate(HEADER_BYTES)
                .putShort(MAGIC)
                .put((byte) flags)
                .put((byte) status)
                .putLong(id)
                .putInt(length)
                .array();
    }

    public RawFrame withId(long id) {
        return new RawFrame(flags, status, id, body);
    }

    public RawFrame withFlags(int flags) {
        return new RawFrame(flags, status, id, body);
    }

    public byte[] bytes() {
        return ByteBuffer.allocate(HEADER_BYTES + body.length)
                .put(header(flags, status, id, body.length))
                .put(body)
                .array();
    }

    public int length() {
        return HEADER_BYTES + body.length;
    }

    /** Returns a decoder for the body from the hessian library that Dubbo uses. */
    public Hessian2Input values() {
        return new Hessian2Input(new ByteArrayInputStream(body));
    }

    /** Returns the error message in an answer whose status is not 20 (OK). */
    public String text() {
        try {
            return values().readString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof RawFrame that && Arrays.equals(bytes(), that.bytes());
    }

    @Override
    public int hashCode() {
        return Long.hashCode(id);
    }

    @Override
    public String toString() {
        return HexFormat.of().withDelimiter(" ").formatHex(bytes(), 0, Math.min(length(), 300)) + " '"
                + new String(body, 0, Math.min(body.length, 300), StandardCharsets.ISO_8859_1) + "'";
    }
}
