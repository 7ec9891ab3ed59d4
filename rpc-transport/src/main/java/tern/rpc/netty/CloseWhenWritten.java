package tern.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;

/** Closes a connection of the server after all earlier commands in its write queue have been written. */
final class CloseWhenWritten extends WriteCommand {

    private final Channel channel;

    CloseWhenWritten(Channel channel) {
        this.channel = channel;
    }

    @Override
    public int bytes() {
        return 0;
    }

    @Override
    protected void write(WriteBatch batch) {
        // This command writes nothing. Only its position in the queue matters.
    }

    @Override
    protected void written() {
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> endOutput(done.isSuccess()));
    }

    /**
     * Closes only the output of the socket. Closing the whole socket while it has unread bytes would reset the
     * connection, and the peer would lose the last answer.
     *
     * @param written whether the queued answers have been written
     */
    private void endOutput(boolean written) {
        if (!written || !(channel instanceof DuplexChannel duplex)) {
            channel.close();
            return;
        }
        channel.config().setAutoRead(true);
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null) {
            duplex.shutdownOutput();
        } else {
            tls.closeOutbound().addListener(done -> duplex.shutdownOutput());
        }
    }
}
