package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.StreamByteDistributor;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * A version of Netty's flow controller that writes at most {@value #MAX_TURNS} DATA frames in each flush. The event
 * loop then serves other connections before it writes the next frames of this connection. A SETTINGS frame of 15 bytes
 * can permit each of a thousand streams to send one more byte. Netty would then write a thousand DATA frames at once,
 * so a peer that sends many such SETTINGS frames could occupy the event loop for seconds. Streams are written in turn.
 * Confined to the event loop.
 */
final class PacedFlowController extends DefaultHttp2RemoteFlowController {

    /** The maximum number of DATA frames in one flush. Writing these frames takes less than a millisecond. */
    static final int MAX_TURNS = 128;

    private final Turns turns;
    private @Nullable ChannelHandlerContext context;
    private boolean scheduled; // true if a task of the event loop will flush this connection again

    PacedFlowController(Http2Connection connection) {
        this(connection, new Turns(connection));
    }

    private PacedFlowController(Http2Connection connection, Turns turns) {
        super(connection, turns);
        this.turns = turns;
    }

    @Override
    public void channelHandlerContext(ChannelHandlerContext added) throws Http2Exception {
        context = added;
        super.channelHandlerContext(added);
    }

    /**
     * Called by each flush of the connection's handler. After a SETTINGS frame that enlarges the flow-control windows,
     * Netty does not call this method, so the frames are written by the flush at the end of the read.
     */
    @Override
    public void writePendingBytes() throws Http2Exception {
        turns.left = MAX_TURNS;
        try {
            super.writePendingBytes();
        } finally {
            boolean remain = turns.left == 0 && !turns.waiting.isEmpty();
            turns.left = 0;
            if (remain && !scheduled) {
                scheduled = true;
                Objects.requireNonNull(context).executor().execute(this::goOn);
            }
        }
    }

    private void goOn() {
        scheduled = false;
        ChannelHandlerContext own = Objects.requireNonNull(context);
        if (!own.isRemoved()) {
            ((Http2ConnectionHandler) own.handler()).flush(own);
        }
    }

    /**
     * Divides the flow-control window of the connection among its streams, like Netty's UniformStreamByteDistributor.
     */
    private static final class Turns extends Http2ConnectionAdapter implements StreamByteDistributor {

        /**
         * The minimum number of bytes that a stream with enough data may send before the next stream sends. The value
         * is Netty's default.
         */
        private static final int MIN_PART_BYTES = 1_024;

        private final Http2Connection.PropertyKey key;
        private final Queue<Turn> waiting = new ArrayDeque<>();
        private long bytes; // the number of bytes that all streams together may send
        private int left; // the number of frames that the current flush may still write; 0 outside a flush

        Turns(Http2Connection connection) {
            key = connection.newKey();
            Http2Stream whole = connection.connectionStream();
            whole.setProperty(key, new Turn(whole));
            connection.addListener(this);
        }

        @Override
        public void onStreamAdded(Http2Stream stream) {
            stream.setProperty(key, new Turn(stream));
        }

        @Override
        public void onStreamClosed(Http2Stream stream) {
            Turn turn = turn(stream);
            if (turn.waits) {
                turn.waits = false;
                waiting.remove(turn);
            }
            bytes -= turn.bytes;
            turn.bytes = 0;
        }

        private Turn turn(Http2Stream stream) {
            return stream.getProperty(key);
        }

        @Override
        public void updateStreamableBytes(StreamState state) {
            Turn turn = turn(state.stream());
            int now = Http2CodecUtil.streamableBytes(state);
            bytes += now - turn.bytes;
            turn.bytes = now;
            turn.blocked = state.windowSize() < 0;
            // A frame without bytes needs no flow-control window. A stream that is being written is added when its
            // state changes again.
            boolean writable = state.windowSize() > 0 || (state.windowSize() == 0 && !turn.writing);
            if (state.hasFrame() && writable && !turn.waits) {
                turn.waits = true;
                waiting.add(turn);
            }
        }

        @Override
        public void updateDependencyTree(int stream, int parent, short weight, boolean exclusive) {
            // all streams have the same priority
        }

        @Override
        public boolean distribute(int maxBytes, Writer writer) throws Http2Exception {
            int rest = maxBytes;
            int part = waiting.isEmpty() ? 0 : Math.max(MIN_PART_BYTES, maxBytes / waiting.size());
            for (Turn next = waiting.peek(); next != null && left > 0; next = waiting.peek()) {
                if (!next.blocked && rest == 0 && next.bytes > 0) {
                    break;
                }
                waiting.remove();
                next.waits = false;
                if (!next.blocked) {
                    int some = Math.min(part, Math.min(rest, next.bytes));
                    rest -= some;
                    left--;
                    next.write(some, writer);
                }
            }
            return left > 0 && bytes > 0;
        }
    }

    /** The data of one stream. */
    private static final class Turn {

        private final Http2Stream stream;
        private int bytes; // the number of bytes that the flow-control window of the stream permits
        private boolean blocked; // true if the flow-control window of the stream is negative
        private boolean waits; // true if the stream is in the queue of streams that may send
        private boolean writing;

        Turn(Http2Stream stream) {
            this.stream = stream;
        }

        void write(int some, StreamByteDistributor.Writer writer) throws Http2Exception {
            writing = true;
            try {
                writer.write(stream, some);
            } catch (RuntimeException | Error e) {
                throw Http2Exception.connectionError(Http2Error.INTERNAL_ERROR, e, "a DATA frame was not written");
            } finally {
                writing = false;
            }
        }
    }
}
