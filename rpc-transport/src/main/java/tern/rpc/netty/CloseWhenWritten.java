package tern.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Closes a server connection after all earlier commands in its write queue have been written. Even a slow peer receives
 * all queued bytes, unless it reads nothing for {@link #STALL_MILLIS}.
 */
final class CloseWhenWritten extends WriteCommand {

    /** If the peer reads no byte of the queued answers during this time, the connection is closed (docs/limits.md). */
    static final long STALL_MILLIS = 30_000;

    /**
     * The time that the peer has to close the connection after the last byte has been written (docs/limits.md). The
     * last bytes are then in the send buffer of the operating system, and a slow network needs time to transmit them.
     */
    static final long LINGER_MILLIS = 5_000;

    private final Channel channel;
    private final Runnable outputEnded;

    /**
     * @param outputEnded called when all bytes have been written and the peer has not closed the connection yet. Must
     *     resume reading the socket, so that the close is noticed; this class drops the received bytes
     */
    CloseWhenWritten(Channel channel, Runnable outputEnded) {
        this.channel = channel;
        this.outputEnded = outputEnded;
    }

    @Override
    public int bytes() {
        return 0;
    }

    @Override
    protected void write(WriteBatch batch) {
        // This command writes no bytes. Its position in the write queue determines when the connection is closed.
    }

    @Override
    protected void written() {
        ChannelFuture last = channel.writeAndFlush(Unpooled.EMPTY_BUFFER);
        last.addListener(done -> endOutput(done.isSuccess()));
        watch(last, OutputProgress.of(channel));
    }

    private void watch(ChannelFuture last, OutputProgress before) {
        if (last.isDone()) {
            return;
        }
        later(channel, STALL_MILLIS, () -> {
            OutputProgress now = OutputProgress.of(channel);
            if (now.equals(before) && !last.isDone()) {
                channel.close();
            } else {
                watch(last, now);
            }
        });
    }

    /** Closes the connection after the given time. */
    static void closeLater(Channel channel, long millis) {
        later(channel, millis, channel::close);
    }

    /**
     * Runs a task later. The task is cancelled when the connection is closed, because it would keep the connection in
     * memory.
     */
    private static void later(Channel channel, long millis, Runnable task) {
        Future<?> scheduled = channel.eventLoop().schedule(task, millis, TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> scheduled.cancel(false));
    }

    /**
     * Closes only the output of the socket. If the whole socket were closed now, unread bytes or later bytes from the
     * peer would reset the connection. The peer would then lose the last answer.
     *
     * @param written whether the queued answers have been written
     */
    private void endOutput(boolean written) {
        if (!written || !(channel instanceof DuplexChannel duplex)) {
            channel.close();
            return;
        }
        channel.pipeline().addFirst(new DroppedReads());
        outputEnded.run();
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null) {
            duplex.shutdownOutput();
        } else {
            tls.closeOutbound().addListener(done -> duplex.shutdownOutput());
        }
        closeLater(channel, LINGER_MILLIS);
    }

    /** Drops all received bytes, because no answer can be sent anymore. */
    private static final class DroppedReads extends ChannelInboundHandlerAdapter {
        @Override
        public void channelRead(ChannelHandlerContext read, Object message) {
            ReferenceCountUtil.release(message);
        }
    }
}
