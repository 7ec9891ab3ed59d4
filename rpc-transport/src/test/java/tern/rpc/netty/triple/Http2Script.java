package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;

/**
 * An HTTP/2 server for tests. The test writes the server's frames one by one, and the server reads the client's frames.
 */
final class Http2Script implements AutoCloseable {

    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;

    static final int END_STREAM = 1;
    static final int ACK = 1;
    static final int END_HEADERS = 4;

    static final int MAX_CONCURRENT_STREAMS = 3;
    static final int INITIAL_WINDOW_SIZE = 4;
    static final int MAX_HEADER_LIST_SIZE = 6;

    private static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    private static final int HEADER_BYTES = 9;
    private static final int MAX_FRAME = 16 << 10;

    record Frame(int type, int flags, int stream, byte[] payload) {

        byte[] bytes() {
            return ByteBuffer.allocate(HEADER_BYTES + payload.length)
                    .putInt(payload.length << 8 | type)
                    .put((byte) flags)
                    .putInt(stream)
                    .put(payload)
                    .array();
        }

        boolean isEnd() {
            return (type == DATA || type == HEADERS) && (flags & END_STREAM) != 0;
        }

        @Override
        public String toString() {
            return "type " + type + " flags " + flags + " stream " + stream + " "
                    + HexFormat.of().formatHex(payload, 0, Math.min(100, payload.length));
        }
    }

    /** The headers and data that the client has sent on one stream. */
    static final class Request {
        final int stream;
        final Http2Headers headers;
        final ByteArrayOutputStream body = new ByteArrayOutputStream();

        Request(int stream, Http2Headers headers) {
            this.stream = stream;
            this.headers = headers;
        }

        String header(String name) {
            CharSequence value = headers.get(name);
            return value == null ? "" : value.toString();
        }
    }

    private final RawSocket socket;
    private final DefaultHttp2HeadersDecoder hpack = new DefaultHttp2HeadersDecoder(false, 1 << 20);
    private final Map<Integer, Request> begun = new HashMap<>();

    private Http2Script(RawSocket socket) {
        this.socket = socket;
    }

    /** Accepts the next client, reads its preface and exchanges settings. */
    static Http2Script accept(RawServer server, int... settings) {
        Http2Script script = acceptOnly(server);
        script.send(SETTINGS, 0, 0, settings(settings));
        script.send(SETTINGS, ACK, 0);
        return script;
    }

    /** Accepts the next client. Sends nothing. */
    static Http2Script acceptOnly(RawServer server) {
        Http2Script script = new Http2Script(server.next());
        assertThat(new String(script.socket.readFully(PREFACE.length()), ISO_8859_1))
                .isEqualTo(PREFACE);
        return script;
    }

    /** Encodes settings as pairs of ids and values. */
    static byte[] settings(int... pairs) {
        ByteBuffer bytes = ByteBuffer.allocate(pairs.length * 3);
        for (int i = 0; i < pairs.length; i += 2) {
            bytes.putShort((short) pairs[i]).putInt(pairs[i + 1]);
        }
        return bytes.array();
    }

    /** Splits captured bytes into frames. DATA frames that are larger than Tern permits become several frames. */
    static List<Frame> frames(byte[] captured) {
        List<Frame> frames = new ArrayList<>();
        ByteBuffer bytes = ByteBuffer.wrap(captured);
        while (bytes.hasRemaining()) {
            int head = bytes.getInt();
            int flags = bytes.get();
            int stream = bytes.getInt();
            byte[] payload = new byte[head >>> 8];
            bytes.get(payload);
            while ((head & 0xFF) == DATA && payload.length > MAX_FRAME) {
                frames.add(new Frame(DATA, 0, stream, Arrays.copyOf(payload, MAX_FRAME)));
                payload = Arrays.copyOfRange(payload, MAX_FRAME, payload.length);
            }
            frames.add(new Frame(head & 0xFF, flags, stream, payload));
        }
        return frames;
    }

    /** Returns the single request in the captured frames. */
    static Request request(List<Frame> frames) {
        Request request = null;
        for (Frame frame : frames) {
            if (frame.type() == HEADERS) {
                request = new Request(frame.stream(), decode(new DefaultHttp2HeadersDecoder(false, 1 << 20), frame));
            } else if (frame.type() == DATA && request != null) {
                request.body.writeBytes(frame.payload());
            }
        }
        return Objects.requireNonNull(request);
    }

    /** Reads the next frame of any type. */
    Frame next() {
        ByteBuffer header = ByteBuffer.wrap(socket.readFully(HEADER_BYTES));
        int head = header.getInt();
        int flags = header.get();
        int stream = header.getInt();
        Frame frame = new Frame(head & 0xFF, flags, stream, socket.readFully(head >>> 8));
        if (frame.type() == HEADERS) {
            begun.put(stream, new Request(stream, decode(hpack, frame)));
        } else if (frame.type() == DATA) {
            begun.get(stream).body.writeBytes(frame.payload());
        }
        return frame;
    }

    private static Http2Headers decode(DefaultHttp2HeadersDecoder hpack, Frame frame) {
        assertThat(frame.flags() & END_HEADERS).as("all headers in one frame").isNotZero();
        ByteBuf block = Unpooled.wrappedBuffer(frame.payload());
        try {
            return hpack.decodeHeaders(frame.stream(), block);
        } catch (Http2Exception e) {
            throw new AssertionError(e);
        } finally {
            block.release();
        }
    }

    /** Reads the next frame of the given type. Drops the frames before it. */
    Frame next(int type) {
        Frame frame = next();
        while (frame.type() != type) {
            frame = next();
        }
        return frame;
    }

    /** Reads the next complete request. */
    Request request() {
        Frame frame = next();
        while (!frame.isEnd()) {
            frame = next();
        }
        return begun.remove(frame.stream());
    }

    /** Reads frames until the headers of the next request have arrived. */
    Request begun() {
        return begun.get(next(HEADERS).stream());
    }

    Http2Script send(byte[] bytes) {
        socket.send(bytes);
        return this;
    }

    Http2Script send(Frame frame) {
        return send(frame.bytes());
    }

    Http2Script send(int type, int flags, int stream, byte... payload) {
        return send(new Frame(type, flags, stream, payload));
    }

    /** Sends headers that do not end the stream. */
    Http2Script head(int stream, String... pairs) {
        return send(HEADERS, END_HEADERS, stream, block(pairs));
    }

    /** Sends headers that end the stream. */
    Http2Script end(int stream, String... pairs) {
        return send(HEADERS, END_HEADERS | END_STREAM, stream, block(pairs));
    }

    Http2Script data(int stream, byte[] bytes) {
        for (int done = 0; done < bytes.length; done += MAX_FRAME) {
            int length = Math.min(MAX_FRAME, bytes.length - done);
            send(DATA, 0, stream, Arrays.copyOfRange(bytes, done, done + length));
        }
        return this;
    }

    Http2Script goAway(int lastStream, String text) {
        return send(
                GOAWAY,
                0,
                0,
                ByteBuffer.allocate(8 + text.length())
                        .putInt(lastStream)
                        .putInt(0)
                        .put(text.getBytes(ISO_8859_1))
                        .array());
    }

    Http2Script reset(int stream, int error) {
        return send(RST_STREAM, 0, stream, fourBytes(error));
    }

    Http2Script credit(int stream, int bytes) {
        return send(WINDOW_UPDATE, 0, stream, fourBytes(bytes));
    }

    static byte[] fourBytes(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    /** Sends a complete successful answer. */
    void answer(int stream, byte[] message) {
        head(stream, ":status", "200", "content-type", "application/grpc");
        data(stream, framed(0, message));
        end(stream, "grpc-status", "0");
    }

    /** Returns the message with its prefix: one byte of flags and four bytes of length. */
    static byte[] framed(int flags, byte[] message) {
        return ByteBuffer.allocate(5 + message.length)
                .put((byte) flags)
                .putInt(message.length)
                .put(message)
                .array();
    }

    /** Encodes a header block as literals, without Huffman coding and without indexing. */
    static byte[] block(String... pairs) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        for (int i = 0; i < pairs.length; i += 2) {
            block.write(0);
            text(block, pairs[i]);
            text(block, pairs[i + 1]);
        }
        return block.toByteArray();
    }

    private static void text(ByteArrayOutputStream block, String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        int length = bytes.length;
        if (length < 127) {
            block.write(length);
        } else {
            block.write(127);
            length -= 127;
            while (length > 127) {
                block.write((length & 127) | 128);
                length >>>= 7;
            }
            block.write(length);
        }
        block.writeBytes(bytes);
    }

    /** Blocks until the client has closed the connection. */
    boolean isClosedByPeer() {
        try {
            while (true) {
                next();
            }
        } catch (UncheckedIOException closed) {
            return true;
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
