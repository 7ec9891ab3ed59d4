package tern.rpc.load.replay;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Forwards data in order, and delays each piece of data. Confined to the event loop. */
final class DelayedRelay extends ChannelInboundHandlerAdapter {

    private final Channel other;
    private final long delayNanos;
    private final DelayLog log;
    private final LongSupplier clock;

    /**
     * @param other the channel of the connection's other side, which uses the same event loop, so that data stays in
     *     order
     */
    DelayedRelay(Channel other, long delayNanos, DelayLog log, LongSupplier clock) {
        this.other = other;
        this.delayNanos = delayNanos;
        this.log = log;
        this.clock = clock;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (delayNanos == 0) {
            other.writeAndFlush(message);
            return;
        }
        long readAt = clock.getAsLong();
        after(ctx, () -> {
            log.record(clock.getAsLong() - readAt);
            other.writeAndFlush(message);
        });
    }

    /**
     * When one side of the relay closes its channel, closes the channel to the other side after all data has been
     * forwarded.
     */
    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        after(ctx, () -> other.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE));
    }

    private void after(ChannelHandlerContext ctx, Runnable step) {
        ctx.executor().schedule(step, delayNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        ctx.close(); // Closing this channel triggers channelInactive, which closes the other side's channel.
    }
}
