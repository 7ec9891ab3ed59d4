package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;

/**
 * Writes complete small requests directly as bytes. Netty's codec would write the same bytes, but would create about 12
 * objects for each request (docs/decisions/0011). Confined to the event loop.
 */
final class PlainRequests {

    static final AsciiString POST = AsciiString.cached("POST");

    private static final AsciiString METHOD = Http2Headers.PseudoHeaderName.METHOD.value();
    private static final AsciiString PATH = Http2Headers.PseudoHeaderName.PATH.value();
    private static final AsciiString SCHEME = Http2Headers.PseudoHeaderName.SCHEME.value();
    private static final AsciiString AUTHORITY = Http2Headers.PseudoHeaderName.AUTHORITY.value();
    private static final int OWN_FIELDS = 4; // the number of pseudo-headers in each request

    private final Http2Connection connection;
    private final Http2ConnectionEncoder encoder;
    private final HeaderTable table;
    private final JoinedWrites joined;
    private final AsciiString authority;

    PlainRequests(
            Http2Connection connection,
            Http2ConnectionEncoder encoder,
            HeaderTable table,
            JoinedWrites joined,
            AsciiString authority) {
        this.connection = connection;
        this.encoder = encoder;
        this.table = table;
        this.joined = joined;
        this.authority = authority;
    }

    /**
     * Returns whether this class can write the request. The request must be small and fit into the flow-control windows
     * of the stream and the connection.
     */
    boolean fits(ClientCall call, byte[] message) {
        Http2RemoteFlowController windows = encoder.flowController();
        // a one-way call ends when its request has been written, and only the codec reports this
        return !call.pending().isOneWay()
                && roomBytes(call) <= JoinedWrites.MAX_ROOM_BYTES
                && roomBytes(call) < table.maxHeaderListSize()
                && message.length <= windows.initialWindowSize()
                && message.length <= windows.windowSize(connection.connectionStream());
    }

    /**
     * Returns an upper bound on the total size of the HEADERS frame and the DATA frame. The result is also an upper
     * bound on the size of the header list, which counts 32 additional bytes for each field.
     */
    private int roomBytes(ClientCall call) {
        return call.bytes() + authority.length() + 64 * (OWN_FIELDS + call.requestFields().length / 2);
    }

    /**
     * Opens a stream that ends with this request, and subtracts the message size from the flow-control window of the
     * connection.
     */
    Http2Stream open(int id, int messageBytes) throws Http2Exception {
        Http2Stream stream = connection.local().createStream(id, true);
        encoder.flowController().incrementWindowSize(connection.connectionStream(), -messageBytes);
        return stream;
    }

    /** Writes a request. {@link #fits} must have returned true for it. */
    void write(Http2Stream stream, ClientCall call, byte[] message, AsciiString scheme) {
        ByteBuf out = joined.room(roomBytes(call));
        joined.counted(call.bytes());
        int start = Http2Frames.begin(out);
        table.begin(out);
        table.write(out, METHOD, POST);
        table.write(out, PATH, call.requestHead().path());
        table.write(out, SCHEME, scheme);
        table.write(out, AUTHORITY, authority);
        AsciiString[] fields = call.requestFields();
        for (int i = 0; i < fields.length; i += 2) {
            table.write(out, fields[i], fields[i + 1]);
        }
        Http2Frames.end(out, start, Http2Frames.HEADERS, Http2Frames.END_HEADERS, stream.id());
        Http2Frames.head(out, message.length, Http2Frames.DATA, Http2Frames.END_STREAM, stream.id());
        out.writeBytes(message);
        stream.headersSent(false);
    }
}
