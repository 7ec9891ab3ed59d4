package tern.rpc.load.attack;

import com.google.protobuf.StringValue;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * An HTTP/2 connection (RFC 9113) that lets the caller choose which frames to write and when to read. Header fields are
 * literals without indexing (RFC 7541 section 6.2.2). One thread may write while another thread reads.
 */
final class RawHttp2 implements AutoCloseable {

    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RESET = 3;
    static final int SETTINGS = 4;
    static final int GO_AWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;
    static final int ACK = 1;
    static final int INITIAL_WINDOW_SIZE = 4;
    static final int CANCEL = 8;

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int SETTING_BYTES = 6;
    private static final int BUFFER_BYTES = 64 << 10;
    private static final int MAX_FRAME_BYTES = 16_384;
    private static final int SEVEN_BITS = 0x7f;
    private static final int PREFIX_BYTES = 5;

    record Frame(int type, int flags, int stream, byte[] payload) {

        boolean has(int flag) {
            return (flags & flag) != 0;
        }
    }

    private final Socket socket = new Socket();
    private final Http2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
    private final DataInputStream in;
    private final OutputStream out;
    private int nextStream = 1;

    /** @param from the last byte of the local address, which is a loopback address */
    RawHttp2(int from, int port, int patienceMillis) throws IOException {
        socket.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) from}), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port), patienceMillis);
        socket.setSoTimeout(patienceMillis);
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), BUFFER_BYTES));
        out = socket.getOutputStream();
    }

    /**
     * Sends the connection preface. If {@code initialWindow} is not negative, the preface sets the initial window size
     * of the streams.
     */
    RawHttp2 open(int initialWindow) throws IOException {
        out.write(PREFACE);
        write(
                SETTINGS,
                0,
                0,
                initialWindow < 0
                        ? new byte[0]
                        : ByteBuffer.allocate(SETTING_BYTES)
                                .putShort((short) INITIAL_WINDOW_SIZE)
                                .putInt(initialWindow)
                                .array());
        return this;
    }

    void write(int type, int flags, int stream, byte[] payload) throws IOException {
        out.write(ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array());
    }

    void write(byte[] frames) throws IOException {
        out.write(frames);
    }

    /** Encodes {@code count} copies of a frame whose flags are all zero. */
    static byte[] frames(int count, int type, int stream, byte[] payload) {
        ByteBuffer bytes = ByteBuffer.allocate(count * (9 + payload.length));
        for (int i = 0; i < count; i++) {
            bytes.putInt(payload.length << 8 | type)
                    .put((byte) 0)
                    .putInt(stream)
                    .put(payload);
        }
        return bytes.array();
    }

    /** Enlarges the flow-control window of a stream, or of the connection if the stream is 0. */
    void credit(int stream, int bytes) throws IOException {
        write(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
    }

    void reset(int stream) throws IOException {
        write(RESET, 0, stream, ByteBuffer.allocate(4).putInt(CANCEL).array());
    }

    /**
     * Sends the headers of a call.
     *
     * @return the stream id
     */
    int begin(String method, String... moreHeaders) throws IOException {
        int stream = nextStream;
        nextStream += 2;
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        field(block, ":method", "POST");
        field(block, ":scheme", "http");
        field(block, ":path", "/" + Target.class.getName() + "/" + method);
        field(block, ":authority", "localhost");
        field(block, "content-type", "application/grpc");
        field(block, "te", "trailers");
        for (int i = 0; i < moreHeaders.length; i += 2) {
            field(block, moreHeaders[i], moreHeaders[i + 1]);
        }
        byte[] bytes = block.toByteArray();
        for (int from = 0; from < bytes.length; from += MAX_FRAME_BYTES) {
            int length = Math.min(MAX_FRAME_BYTES, bytes.length - from);
            byte[] part = new byte[length];
            System.arraycopy(bytes, from, part, 0, length);
            boolean last = from + length == bytes.length;
            write(from == 0 ? HEADERS : 9, last ? END_HEADERS : 0, stream, part);
        }
        return stream;
    }

    /**
     * Sends a complete call.
     *
     * @return the stream id
     */
    int call(String method, String text) throws IOException {
        int stream = begin(method);
        write(DATA, END_STREAM, stream, message(0, StringValue.of(text).toByteArray()));
        return stream;
    }

    /**
     * Encodes a gRPC message.
     *
     * @param compressed 1 if the message is compressed, otherwise 0
     */
    static byte[] message(int compressed, byte[] bytes) {
        return ByteBuffer.allocate(PREFIX_BYTES + bytes.length)
                .put((byte) compressed)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }

    private static void field(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        text(block, name);
        text(block, value);
    }

    private static void text(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        if (bytes.length < SEVEN_BITS) {
            block.write(bytes.length);
        } else {
            block.write(SEVEN_BITS);
            int rest = bytes.length - SEVEN_BITS;
            for (; rest > SEVEN_BITS; rest >>>= 7) {
                block.write((rest & SEVEN_BITS) | 0x80);
            }
            block.write(rest);
        }
        block.writeBytes(bytes);
    }

    /** Waits for the next frame. SETTINGS frames are acknowledged. */
    Frame read() throws IOException {
        int lengthAndType = in.readInt();
        int flags = in.readUnsignedByte();
        int stream = in.readInt();
        byte[] payload = new byte[lengthAndType >>> 8];
        in.readFully(payload);
        Frame frame = new Frame(lengthAndType & 0xff, flags, stream, payload);
        if (frame.type == SETTINGS && !frame.has(ACK)) {
            write(SETTINGS, ACK, 0, new byte[0]);
        }
        return frame;
    }

    /**
     * Decodes a header block that consists of one frame. Every received block must be decoded, because it can change
     * the compression table that the next block refers to.
     */
    Http2Headers fields(Frame frame) throws IOException {
        try {
            return decoder.decodeHeaders(frame.stream, Unpooled.wrappedBuffer(frame.payload));
        } catch (Http2Exception e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
