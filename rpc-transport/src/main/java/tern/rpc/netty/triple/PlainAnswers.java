package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import java.util.function.LongSupplier;
import tern.rpc.netty.ServerConnection;

/**
 * Writes complete successful answers directly as bytes. Counts these bytes as unsent until the socket has accepted
 * them. Netty's codec, which writes all other answers, would create about 36 objects for each answer
 * (docs/decisions/0011). The answers that this class writes have the same headers and trailers, which do not change the
 * header table of the connection. Also counts the headers of the answers that the codec writes. Confined to the event
 * loop.
 */
final class PlainAnswers {

    /** The maximum size of a message that this class writes. */
    private static final int MAX_BYTES = 8 << 10;

    private static final int HEADS_BYTES = 64;
    private static final int MAX_LIST = 256;

    private final ServerConnection connection;
    private final Http2ConnectionEncoder encoder;
    private final JoinedWrites joined;
    private final LongSupplier headerListBytes; // the maximum size of headers that the client accepts
    // the number of bytes waiting for the socket: answers written by this class, and headers of other answers
    private long waiting;
    private long reported; // the number of waiting bytes that was last reported to the connection

    PlainAnswers(
            ServerConnection connection,
            Http2ConnectionEncoder encoder,
            JoinedWrites joined,
            LongSupplier headerListBytes) {
        this.connection = connection;
        this.encoder = encoder;
        this.joined = joined;
        this.headerListBytes = headerListBytes;
    }

    /**
     * Writes an answer.
     *
     * @param counted the number of bytes to pass to {@link #taken} when the socket has accepted the answer
     * @return false if the codec must write the answer, because of a flow-control window, the size of the message,
     *     the state of the stream or the client's settings
     */
    boolean write(Http2Stream stream, Http2Stream whole, AsciiString contentType, byte[] message, int counted) {
        Http2RemoteFlowController windows = encoder.flowController();
        if (stream.state() != Http2Stream.State.HALF_CLOSED_REMOTE
                || message.length > MAX_BYTES
                || windows.hasFlowControlled(stream)
                || message.length > windows.windowSize(stream)
                || message.length > windows.windowSize(whole)
                || headerListBytes.getAsLong() < MAX_LIST
                || headers().mustEncodeNext()) {
            return false;
        }
        try {
            windows.incrementWindowSize(whole, -message.length);
        } catch (Http2Exception e) {
            // this exception never occurs, because the flow-control window is reduced, and only an enlargement can fail
            return false;
        }
        ByteBuf out = joined.room(message.length + HEADS_BYTES + contentType.length());
        joined.counted(counted);
        waiting += counted;
        write(stream.id(), contentType, message, out);
        stream.headersSent(false);
        stream.closeLocalSide();
        return true;
    }

    private LateHeadersEncoder headers() {
        return (LateHeadersEncoder) encoder.configuration().headersConfiguration();
    }

    private static void write(int id, AsciiString contentType, byte[] message, ByteBuf out) {
        int head = Http2Frames.begin(out);
        out.writeByte(Http2Frames.INDEXED | Http2Frames.STATUS_200);
        Http2Frames.number(out, Http2Frames.NOT_REMEMBERED, 4, Http2Frames.CONTENT_TYPE);
        Http2Frames.text(out, contentType);
        Http2Frames.end(out, head, Http2Frames.HEADERS, Http2Frames.END_HEADERS, id);
        Http2Frames.head(out, message.length, Http2Frames.DATA, 0, id);
        out.writeBytes(message);
        int trailers = Http2Frames.begin(out);
        out.writeByte(Http2Frames.NOT_REMEMBERED);
        Http2Frames.text(out, GrpcHeaders.STATUS);
        Http2Frames.text(out, GrpcHeaders.ZERO);
        Http2Frames.end(out, trailers, Http2Frames.HEADERS, Http2Frames.END_HEADERS | Http2Frames.END_STREAM, id);
    }

    /**
     * Called when the codec has written the headers of an answer. The headers are counted until {@link #taken} is
     * called.
     */
    void codecWrites(int counted) {
        waiting += counted;
    }

    /** Called when answer bytes have been accepted by the socket or dropped. */
    void taken(int counted) {
        waiting -= counted;
        if (waiting < reported) {
            report();
        }
    }

    /**
     * Called after a flush. Reports to the connection how many bytes the socket has not accepted. The number is usually
     * 0.
     */
    void flushed() {
        if (waiting > reported) {
            report();
        }
    }

    /** Tells the connection how the number of waiting bytes has changed, because exchanges do not report these bytes. */
    private void report() {
        long change = waiting - reported;
        reported = waiting; // the change is reported last, because add() can close the connection
        connection.unread().add(change);
    }
}
