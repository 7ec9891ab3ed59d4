package tern.rpc.load.peer;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedOutputStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import tern.rpc.load.peer.proto.Email;
import tern.sample.api.UserService;

/** An HTTP/2 client with prior knowledge (RFC 9113), for calls over gRPC or Triple. */
final class BareHttp2 extends BareConnection {

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int GO_AWAY = 7;
    private static final int ACK = 1;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int HEAD_BYTES = 9;
    private static final int PING_BYTES = 8;

    private record Frame(int type, int flags, int stream, byte[] payload) {

        boolean is(int wanted, int flag) {
            return type == wanted && (flags & flag) != 0;
        }
    }

    private final String path;
    private final byte[] message;
    private int nextStream = 1;

    private BareHttp2(int port, String path, byte[] message) throws IOException {
        super(port);
        this.path = path;
        this.message = message;
    }

    /**
     * Opens a connection for calls with protobuf messages.
     *
     * @param service the service name in the request path; the server must offer the methods of the {@code .proto} file
     *     under this name
     */
    static BareHttp2 withProtobuf(int port, String service) throws IOException {
        return new BareHttp2(
                port,
                "/" + service + "/existUser",
                Email.newBuilder().setAddress("1236").build().toByteArray());
    }

    /**
     * Opens a connection for calls with Triple's envelope for Java values, which contains the serialization name, the
     * type name and the encoded argument.
     */
    static BareHttp2 withJavaValues(int port) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        CodedOutputStream envelope = CodedOutputStream.newInstance(bytes);
        envelope.writeString(1, "hessian2");
        // The encoded string, which begins with its length.
        envelope.writeBytes(2, ByteString.copyFromUtf8("\u00041236"));
        envelope.writeString(3, "java.lang.String");
        envelope.flush();
        return new BareHttp2(port, "/" + UserService.class.getName() + "/existUser", bytes.toByteArray());
    }

    @Override
    void open() throws IOException {
        out.write(PREFACE);
        write(SETTINGS, 0, 0);
        while (next().type != SETTINGS) {
            // Frames that arrive before the server's SETTINGS frame need no handling in this loop, because next() has
            // handled them.
        }
        ping();
    }

    @Override
    void call() throws IOException {
        int stream = nextStream;
        nextStream += 2;
        write(HEADERS, END_HEADERS, stream, headers());
        write(
                DATA,
                END_STREAM,
                stream,
                ByteBuffer.allocate(5 + message.length)
                        .put((byte) 0)
                        .putInt(message.length)
                        .put(message)
                        .array());
        boolean answered = false;
        Frame frame;
        do {
            frame = next();
            answered |= frame.type == DATA && frame.stream == stream && frame.payload.length > 0;
        } while (frame.stream != stream || !(frame.is(DATA, END_STREAM) || frame.is(HEADERS, END_STREAM)));
        if (!answered) {
            throw new IOException(path + " was not answered by a message");
        }
        ping();
    }

    private byte[] headers() throws IOException {
        ByteBuf block = Unpooled.buffer();
        try {
            new DefaultHttp2HeadersEncoder()
                    .encodeHeaders(
                            nextStream,
                            new DefaultHttp2Headers()
                                    .method("POST")
                                    .scheme("http")
                                    .path(path)
                                    .authority("127.0.0.1")
                                    .add("content-type", "application/grpc")
                                    .add("te", "trailers")
                                    .add("user-agent", "bare/1"),
                            block);
        } catch (Http2Exception e) {
            throw new IOException(e);
        }
        return ByteBufUtil.getBytes(block);
    }

    @Override
    void ping() throws IOException {
        write(PING, 0, 0, new byte[PING_BYTES]);
        while (!next().is(PING, ACK)) {
            // Frames other than the response to the ping need no more work, because next() has handled them.
        }
    }

    /** Reads a frame. Responds to SETTINGS and PING frames. */
    private Frame next() throws IOException {
        byte[] head = in.readNBytes(HEAD_BYTES);
        if (head.length < HEAD_BYTES) {
            throw new IOException("the server closed the connection");
        }
        ByteBuffer fields = ByteBuffer.wrap(head);
        int lengthAndType = fields.getInt();
        int flags = fields.get();
        int stream = fields.getInt();
        Frame frame = new Frame(lengthAndType & 0xff, flags, stream, in.readNBytes(lengthAndType >>> 8));
        if (frame.type == GO_AWAY) {
            throw new IOException("the server closes the connection: "
                    + new String(frame.payload, StandardCharsets.ISO_8859_1).strip());
        }
        if ((frame.type == SETTINGS || frame.type == PING) && (frame.flags & ACK) == 0) {
            write(frame.type, ACK, 0, frame.type == PING ? frame.payload : new byte[0]);
        }
        return frame;
    }

    private void write(int type, int flags, int stream, byte... payload) throws IOException {
        out.write(ByteBuffer.allocate(HEAD_BYTES + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array());
    }
}
