package tern.rpc.netty.triple;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameWriter;
import io.netty.handler.codec.http2.Http2LifecycleManager;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Extends Netty's encoder with limits for two kinds of control frames that a peer causes: resets, and acknowledgements
 * of pings and settings that the peer does not read. If a peer causes too many of these frames, its connection is
 * closed. Netty implements the same limits in two wrapping encoders, which only its builder can create. This class
 * replaces these two objects (docs/decisions/0024). Confined to the event loop.
 */
final class LimitedEncoder extends DefaultHttp2ConnectionEncoder implements ChannelFutureListener {

    /** The maximum number of acknowledgements and resets waiting for the socket. The value is Netty's default. */
    static final int MAX_UNSENT = Http2CodecUtil.DEFAULT_MAX_QUEUED_CONTROL_FRAMES;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    private @Nullable Http2LifecycleManager lifecycle;
    private int unsent;
    private boolean tooManyUnsent;
    private int resets; // the number of resets in the current time window
    private long windowNanos = System.nanoTime();

    LimitedEncoder(Http2Connection connection, Http2FrameWriter writer) {
        super(connection, writer);
    }

    @Override
    public void lifecycleManager(Http2LifecycleManager manager) {
        lifecycle = manager;
        super.lifecycleManager(manager);
    }

    @Override
    public ChannelFuture writeSettingsAck(ChannelHandlerContext context, ChannelPromise promise) {
        return super.writeSettingsAck(context, counted(context, promise));
    }

    @Override
    public ChannelFuture writePing(ChannelHandlerContext context, boolean ack, long data, ChannelPromise promise) {
        return super.writePing(context, ack, data, ack ? counted(context, promise) : promise);
    }

    @Override
    public ChannelFuture writeRstStream(
            ChannelHandlerContext context, int streamId, long error, ChannelPromise promise) {
        ChannelFuture written = super.writeRstStream(context, streamId, error, counted(context, promise));
        if (error != Http2Error.CANCEL.code() && error != Http2Error.NO_ERROR.code()) {
            // resets with an error code other than CANCEL and NO_ERROR are caused by the peer; only such resets are
            // counted
            countReset(context);
        }
        return written;
    }

    private ChannelPromise counted(ChannelHandlerContext context, ChannelPromise promise) {
        if (tooManyUnsent) {
            return promise;
        }
        if (unsent == MAX_UNSENT) {
            // the flush might pass some of the waiting frames to the socket, which reduces their number
            context.flush();
        }
        if (unsent == MAX_UNSENT) {
            tooManyUnsent = true;
            end(context, MAX_UNSENT + " acknowledgements and resets wait for the peer to read them");
        }
        unsent++;
        return promise.unvoid().addListener(this);
    }

    @Override
    public void operationComplete(ChannelFuture written) {
        unsent--;
    }

    private void countReset(ChannelHandlerContext context) {
        long now = System.nanoTime();
        if (now - windowNanos >= WINDOW_NANOS) {
            windowNanos = now;
            resets = 0;
        }
        if (++resets > Http2Limits.MAX_RESETS) {
            end(context, resets + " streams had to be reset within 30 s");
        }
    }

    private void end(ChannelHandlerContext context, String reason) {
        if (lifecycle != null) {
            lifecycle.onError(context, true, Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, reason));
        }
        context.close();
    }
}
