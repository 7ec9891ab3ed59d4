package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import java.util.concurrent.TimeUnit;

/**
 * Ends an HTTP/2 connection of a server without losing a call. The first GOAWAY frame asks the client to open no more
 * streams. The final GOAWAY frame follows when the client has acknowledged a ping. By then, all streams that were in
 * flight have arrived. The connection is closed when its last stream has ended. Confined to the event loop.
 */
final class ConnectionDrain {

    /** The payload of the PING before the second GOAWAY (docs/wire-protocol.md 3.11). */
    private static final long DRAIN_PING = 0x97ACEF001L;

    private static final long DRAIN_PING_MILLIS = 10_000;

    private final Http2ConnectionHandler handler;
    private final TypedFrameReader frames;
    private final ResetFrames.Counter inVain;
    private final Runnable close;
    private boolean announced;

    /**
     * @param inVain counts the frames of streams that the client opens after the final GOAWAY
     * @param close closes the connection after all bytes have been written; can be called repeatedly
     */
    ConnectionDrain(
            Http2ConnectionHandler handler, TypedFrameReader frames, ResetFrames.Counter inVain, Runnable close) {
        this.handler = handler;
        this.frames = frames;
        this.inVain = inVain;
        this.close = close;
    }

    /** Sends the first GOAWAY frame. Called once. */
    void begin(ChannelHandlerContext context) {
        goAway(context, Integer.MAX_VALUE);
        handler.encoder().writePing(context, false, DRAIN_PING, context.newPromise());
        context.flush();
        context.executor().schedule(() -> announce(context), DRAIN_PING_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Called when the client has acknowledged a ping. If {@link #begin} sent this ping, sends the final GOAWAY frame.
     *
     * @return false if the ping was not sent by this class
     */
    boolean acknowledged(long pingData, ChannelHandlerContext context) {
        if (pingData != DRAIN_PING) {
            return false;
        }
        announce(context);
        return true;
    }

    private void announce(ChannelHandlerContext context) {
        if (announced || !context.channel().isActive()) {
            return;
        }
        announced = true;
        Http2Connection connection = handler.connection();
        int lastStream = connection.remote().lastStreamCreated();
        goAway(context, lastStream);
        frames.ignoreFramesOf(
                new FramesAfterGoAway.Refused(lastStream, connection.local().flowController(), inVain));
        context.flush();
        closeIfUnused();
    }

    /** Called when a stream has been closed. */
    void streamClosed() {
        if (announced) {
            closeIfUnused();
        }
    }

    /**
     * The last answer might still be in the send buffer of the operating system. If the whole socket were closed now,
     * the client's next frame, such as a WINDOW_UPDATE, would reset the connection, and the client would lose the
     * answer.
     */
    private void closeIfUnused() {
        if (handler.connection().numActiveStreams() == 0) {
            close.run();
        }
    }

    private void goAway(ChannelHandlerContext context, int lastStream) {
        ByteBuf reason = ByteBufUtil.writeAscii(context.alloc(), "app_requested");
        handler.goAway(context, lastStream, Http2Error.NO_ERROR.code(), reason, context.newPromise());
    }
}
