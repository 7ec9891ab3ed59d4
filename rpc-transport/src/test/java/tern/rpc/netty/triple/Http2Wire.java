package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An HTTP/2 client that sends captured bytes and parses the answers frame by frame. */
final class Http2Wire implements AutoCloseable {

    private static final int PREFACE_BYTES = 24;
    private static final int MAX_LOST_GOAWAYS = 20;
    private static final int FRAME_HEADER_BYTES = 9;
    private static final int MAX_FRAME = 16 << 10;
    static final byte DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int ACK = 1;
    static final int END_STREAM = 1;
    static final int END_HEADERS = 4;

    /** The headers and data that the server has sent on one stream. */
    static final class Answer {
        final List<Http2Headers> headers = new ArrayList<>();
        final ByteArrayOutputStream data = new ByteArrayOutputStream();

        @Nullable
        Long reset;

        boolean ended;

        /** Returns the value of a header, from the last header block that contains it. */
        String header(String name) {
            for (int i = headers.size() - 1; i >= 0; i--) {
                CharSequence value = headers.get(i).get(name);
                if (value != null) {
                    return value.toString();
                }
            }
            return "";
        }

        /** Returns the body with one character for each byte. */
        String text() {
            return data.toString(ISO_8859_1);
        }

        Http2Headers head() {
            return headers.get(0);
        }
    }

    private final Socket socket;
    private final OutputStream out;
    private final DefaultHttp2FrameReader reader = new DefaultHttp2FrameReader(false);
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
    private final ByteBuf read = Unpooled.buffer();
    private final Map<Integer, Answer> answers = new TreeMap<>();
    private @Nullable Long goAway;
    private int lastStream = -1;
    private final List<Long> pings = new ArrayList<>();
    private int resets;
    private final AtomicInteger finished = new AtomicInteger();
    private OnData onData = (stream, bytes) -> {};

    /** Called for each DATA frame that has been read. */
    interface OnData {
        void read(int stream, int bytes);
    }

    private Http2Wire(Socket socket, OutputStream out) {
        this.socket = socket;
        this.out = out;
        try {
            reader.maxFrameSize(8 << 20); // in the captures, the Dubbo consumers permit frames of up to this size
        } catch (Http2Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static Http2Wire connect(int port) {
        try {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            return new Http2Wire(socket, socket.getOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Connects with a small receive buffer, so that most of an unread answer stays in the server's send buffer. */
    static Http2Wire connectSlowly(int port) {
        try {
            Socket socket = new Socket();
            socket.setReceiveBufferSize(4 << 10);
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
            return new Http2Wire(socket, socket.getOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends the captured bytes and returns the answer to the single request in them. */
    static Answer replay(int port, byte[] captured, int stream) {
        try (Http2Wire wire = connect(port)) {
            wire.send(withoutEnd(captured));
            return wire.answer(stream);
        }
    }

    /** Parses the answer on one stream from the captured bytes that a server sent. */
    static Answer parse(byte[] captured, int stream) {
        try (Http2Wire wire = new Http2Wire(new Socket(), OutputStream.nullOutputStream())) {
            wire.read.writeBytes(captured);
            wire.takeApart();
            return wire.answers.getOrDefault(stream, new Answer());
        }
    }

    /**
     * Removes the captured frames that end the connection. These frames would otherwise reach the server before its
     * answer is complete.
     */
    private static byte[] withoutEnd(byte[] captured) {
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        kept.write(captured, 0, PREFACE_BYTES);
        int at = PREFACE_BYTES;
        while (at + FRAME_HEADER_BYTES <= captured.length) {
            int length = (captured[at] & 0xFF) << 16 | (captured[at + 1] & 0xFF) << 8 | (captured[at + 2] & 0xFF);
            int type = captured[at + 3];
            if (type == DATA) {
                writeData(kept, captured, at, length);
            } else if (type != RST_STREAM && type != GOAWAY) {
                kept.write(captured, at, FRAME_HEADER_BYTES + length);
            }
            at += FRAME_HEADER_BYTES + length;
        }
        return kept.toByteArray();
    }

    /**
     * Splits a captured DATA frame into smaller frames. The frame was sent to a Dubbo provider, which permits frames of
     * up to 8 MiB. Tern permits frames of up to 16 KiB.
     */
    private static void writeData(ByteArrayOutputStream kept, byte[] captured, int at, int length) {
        int done = 0;
        do {
            int piece = Math.min(MAX_FRAME, length - done);
            boolean last = done + piece == length;
            kept.writeBytes(new byte[] {(byte) (piece >>> 16), (byte) (piece >>> 8), (byte) piece, DATA});
            kept.write(last ? captured[at + 4] : 0);
            kept.write(captured, at + 5, 4);
            kept.write(captured, at + FRAME_HEADER_BYTES + done, piece);
            done += piece;
        } while (done < length);
    }

    /** Connects to the port, sends the preface and exchanges settings. */
    static Http2Wire open(int port) {
        Http2Wire wire = connect(port);
        wire.sayHello();
        return wire;
    }

    /** Returns the connection preface followed by the given frames, as a client sends them. */
    static byte[] bytesOf(Consumer<Http2Wire> sends) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Http2Wire wire = new Http2Wire(new Socket(), bytes)) {
            wire.sayHello();
            sends.accept(wire);
        }
        return bytes.toByteArray();
    }

    private void sayHello() {
        send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
        frame(SETTINGS, 0, 0);
    }

    /**
     * Sets the size of the server's header compression table. From then on, this client fails if the server does not
     * announce a smaller size, or exceeds the announced size.
     */
    void headerTable(int bytes) {
        frame(SETTINGS, 0, 0, Http2Script.settings(Http2CodecUtil.SETTINGS_HEADER_TABLE_SIZE, bytes));
        try {
            reader.configuration().headersConfiguration().maxHeaderTableSize(bytes);
        } catch (Http2Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sends one frame. */
    void frame(int type, int flags, int stream, byte... payload) {
        ByteBuffer frame = ByteBuffer.allocate(FRAME_HEADER_BYTES + payload.length);
        frame.putShort((short) (payload.length >>> 8)).put((byte) payload.length);
        frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
        send(frame.array());
    }

    /** Sends the headers of a gRPC request. Additional headers are given as name-value pairs. */
    void request(int stream, String path, boolean end, String... headers) {
        frame(HEADERS, END_HEADERS | (end ? END_STREAM : 0), stream, block(path, headers));
    }

    /** Encodes the headers of a gRPC request. */
    static byte[] block(String path, String... headers) {
        Http2Headers head = head(path, "application/grpc").set("te", "trailers");
        for (int i = 0; i < headers.length; i += 2) {
            head.add(headers[i], headers[i + 1]);
        }
        return block(head);
    }

    /** Returns the headers of a POST request. */
    static Http2Headers head(String path, String contentType) {
        return new DefaultHttp2Headers(false)
                .method("POST")
                .scheme("http")
                .path(path)
                .authority("localhost")
                .set("content-type", contentType);
    }

    static byte[] block(Http2Headers head) {
        ByteBuf block = Unpooled.buffer();
        try {
            // The encoder uses a dynamic table of size 0, so that no block depends on an earlier block.
            new DefaultHttp2HeadersEncoder(Http2HeadersEncoder.NEVER_SENSITIVE, false, 16, Integer.MAX_VALUE)
                    .encodeHeaders(1, head, block);
            byte[] bytes = new byte[block.readableBytes()];
            block.readBytes(bytes);
            return bytes;
        } catch (Http2Exception e) {
            throw new IllegalStateException(e);
        } finally {
            block.release();
        }
    }

    /**
     * Sends a gRPC message in one DATA frame.
     *
     * @param flags the flags of the message, not of the frame
     */
    void message(int stream, boolean end, int flags, byte... payload) {
        ByteBuffer message = ByteBuffer.allocate(5 + payload.length);
        message.put((byte) flags).putInt(payload.length).put(payload);
        frame(DATA, end ? END_STREAM : 0, stream, message.array());
    }

    void send(byte[] bytes) {
        send(bytes, 0, bytes.length);
    }

    void send(byte[] bytes, int offset, int length) {
        try {
            out.write(bytes, offset, length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads and drops the given string, which precedes the first frame. */
    void skip(String text) {
        try {
            byte[] bytes = socket.getInputStream().readNBytes(text.length());
            if (!new String(bytes, ISO_8859_1).equals(text)) {
                throw new AssertionError("unexpected: " + new String(bytes, ISO_8859_1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets an action that runs for each DATA frame that is read from this point on. */
    void onData(OnData each) {
        onData = each;
    }

    /** Enlarges the flow-control window of a stream, or of the connection if the stream is 0. */
    void openWindow(int stream, int bytes) {
        frame(WINDOW_UPDATE, 0, stream, ByteBuffer.allocate(4).putInt(bytes).array());
    }

    /** Blocks until the answer on a stream is complete. */
    Answer answer(int stream) {
        while (true) {
            Answer answer = answers.get(stream);
            if (answer != null && (answer.ended || answer.reset != null)) {
                return answer;
            }
            if (!readMore()) {
                throw new AssertionError("the connection ended before stream " + stream + " did, goAway " + goAway);
            }
        }
    }

    /** Blocks until the first frame of the answer on a stream has arrived. */
    Answer begun(int stream) {
        readUntil(() -> answers.containsKey(stream));
        return answers.get(stream);
    }

    /**
     * Reads until the connection ends. Returns the error code of the last GOAWAY frame; null if there was no GOAWAY
     * frame.
     */
    @Nullable
    Long endOfConnection() {
        while (readMore()) {
            // The loop body is empty, because readMore() reads until the peer closes the connection.
        }
        return goAway;
    }

    /**
     * Asserts that the given frames end the connection with a GOAWAY frame that has the given error code. If a server
     * closes a connection that has unread bytes, TCP resets the connection, and the client can lose the GOAWAY. If the
     * GOAWAY is lost, the frames are sent again on a new connection.
     */
    static void assertCutOff(int port, Consumer<Http2Wire> frames, long code) {
        for (int attempt = 0; attempt < MAX_LOST_GOAWAYS; attempt++) {
            try (Http2Wire wire = open(port)) {
                try {
                    frames.accept(wire);
                } catch (UncheckedIOException closed) {
                    // the server has closed the connection, but the frames that it sent earlier can still be read
                }
                Long told = wire.endOfConnection();
                if (told != null) {
                    assertThat(told).isEqualTo(code);
                    return;
                }
            }
        }
        throw new AssertionError("no GOAWAY came on any of " + MAX_LOST_GOAWAYS + " connections");
    }

    /** Reads frames until the condition is true. */
    void readUntil(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (!readMore()) {
                throw new AssertionError("the connection ended, goAway " + goAway);
            }
        }
    }

    /** Returns the number of streams that the server has ended. Any thread may call this method. */
    int finished() {
        return finished.get();
    }

    /** Returns the number of RST_STREAM frames that have been read. */
    int resets() {
        return resets;
    }

    List<Long> pings() {
        return pings;
    }

    /** Returns the last stream id from the most recent GOAWAY frame; -1 if there was no GOAWAY frame. */
    int lastStream() {
        return lastStream;
    }

    private boolean readMore() {
        byte[] buffer = new byte[16 << 10];
        int count;
        try {
            count = socket.getInputStream().read(buffer);
        } catch (IOException e) {
            return false;
        }
        if (count < 0) {
            return false;
        }
        read.writeBytes(buffer, 0, count);
        takeApart();
        return true;
    }

    private void takeApart() {
        ChannelHandlerContext context = channel.pipeline().firstContext();
        try {
            reader.readFrame(context, read, new Frames());
            read.discardReadBytes();
        } catch (Http2Exception e) {
            throw new AssertionError(e);
        }
    }

    private Answer on(int stream) {
        return answers.computeIfAbsent(stream, id -> new Answer());
    }

    /**
     * Resets the TCP connection, as the operating system does if a process is killed while its socket has unread bytes.
     */
    void leaveAbruptly() {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        reader.close();
        read.release();
        channel.finishAndReleaseAll();
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class Frames extends Http2EventAdapter {

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean end) {
            Answer answer = on(stream);
            answer.headers.add(headers);
            answer.ended |= end;
            finished.addAndGet(end ? 1 : 0);
        }

        @Override
        public int onDataRead(ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean end) {
            Answer answer = on(stream);
            byte[] bytes = new byte[data.readableBytes()];
            data.readBytes(bytes);
            answer.data.writeBytes(bytes);
            onData.read(stream, bytes.length);
            answer.ended |= end;
            finished.addAndGet(end ? 1 : 0);
            return bytes.length + padding;
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext context, int stream, long error) {
            on(stream).reset = error;
            resets++;
        }

        @Override
        public void onPingRead(ChannelHandlerContext context, long data) {
            pings.add(data);
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext context, int last, long error, ByteBuf text) {
            goAway = error;
            lastStream = last;
        }
    }
}
