package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.ArrayList;
import java.util.List;

/**
 * The small messages of one stream that the event loop takes from the connection's write queue before one flush. The
 * messages are written as one DATA frame with one promise. A separate frame and promise for a small message would cost
 * several times as much as the message. Confined to the event loop.
 */
final class GatheredMessages {

    /** The maximum payload of a frame that fits into one buffer of {@link JoinedWrites} and that every peer accepts. */
    static final int MAX_BYTES = JoinedWrites.MAX_ROOM_BYTES - Http2Frames.HEAD_BYTES;

    private final List<byte[]> messages = new ArrayList<>();
    private int bytes;
    private int countedBytes;

    boolean isEmpty() {
        return messages.isEmpty();
    }

    boolean hasRoomFor(byte[] message) {
        return bytes + message.length <= MAX_BYTES;
    }

    /** @param counted the number of bytes that the message adds to the count of unsent bytes */
    void add(byte[] message, int counted) {
        messages.add(message);
        bytes += message.length;
        countedBytes += counted;
    }

    /** Returns the number of bytes that the messages add to the count of unsent bytes. */
    int countedBytes() {
        return countedBytes;
    }

    void clear() {
        messages.clear();
        bytes = 0;
        countedBytes = 0;
    }

    /**
     * Writes the messages and removes them from this object.
     *
     * @return a future that completes when the socket has accepted the messages or they have been dropped
     */
    ChannelFuture write(
            ChannelHandlerContext context, Http2ConnectionEncoder encoder, Http2Stream stream, JoinedWrites joined) {
        ChannelPromise taken = context.newPromise();
        if (takeWindows(encoder, stream)) {
            ByteBuf out = joined.room(Http2Frames.HEAD_BYTES + bytes);
            Http2Frames.head(out, bytes, Http2Frames.DATA, 0, stream.id());
            copyTo(out);
            joined.promised(taken);
        } else {
            ByteBuf data = context.alloc().directBuffer(bytes);
            copyTo(data);
            encoder.writeData(context, stream.id(), data, 0, false, taken);
        }
        clear();
        return taken;
    }

    /**
     * Returns whether the frame can be written immediately, without the codec's queue. If so, subtracts its bytes from
     * the flow-control windows of the stream and the connection.
     */
    private boolean takeWindows(Http2ConnectionEncoder encoder, Http2Stream stream) {
        Http2Connection connection = encoder.connection();
        Http2RemoteFlowController windows = encoder.flowController();
        Http2Stream whole = connection.connectionStream();
        if (!stream.isHeadersSent()
                || windows.hasFlowControlled(stream)
                || bytes > windows.windowSize(stream)
                || bytes > windows.windowSize(whole)) {
            return false;
        }
        try {
            windows.incrementWindowSize(whole, -bytes);
            windows.incrementWindowSize(stream, -bytes);
        } catch (Http2Exception e) {
            throw new IllegalStateException("a window that shrinks cannot overflow", e);
        }
        return true;
    }

    private void copyTo(ByteBuf out) {
        for (byte[] message : messages) {
            out.writeBytes(message);
        }
    }
}
