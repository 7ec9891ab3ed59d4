package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.DuplexChannel;

/** A channel without a socket whose peer reads only as many bytes as the test allows. Its clock does not advance. */
final class SlowChannel extends EmbeddedChannel implements DuplexChannel {

    private long allowed;
    private long read;
    private boolean outputShutdown;

    SlowChannel() {
        freezeTime();
    }

    /** Lets the peer read up to the given number of additional bytes. */
    void peerReads(long bytes) {
        allowed += bytes;
        flush();
        runPendingTasks();
    }

    /** Returns the number of bytes that the peer has read. */
    long taken() {
        return read;
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer output) {
        while (output.current() instanceof ByteBuf bytes && (allowed > 0 || !bytes.isReadable())) {
            int taken = (int) Math.min(allowed, bytes.readableBytes());
            allowed -= taken;
            read += taken;
            output.removeBytes(taken);
        }
    }

    @Override
    public boolean isInputShutdown() {
        return false;
    }

    @Override
    public ChannelFuture shutdownInput() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShutdown;
    }

    @Override
    public ChannelFuture shutdownOutput() {
        outputShutdown = true;
        return newSucceededFuture();
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        outputShutdown = true;
        return promise.setSuccess();
    }

    @Override
    public boolean isShutdown() {
        return !isOpen();
    }

    @Override
    public ChannelFuture shutdown() {
        return close();
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        return close(promise);
    }
}
