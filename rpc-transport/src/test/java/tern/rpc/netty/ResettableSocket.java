package tern.rpc.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;

/** Closes its channel in a flush, as a socket does whose write fails because the peer has reset the connection. */
final class ResettableSocket extends ChannelOutboundHandlerAdapter {

    private int flushesLeft;

    /** @param flushes the number of flushes that succeed */
    ResettableSocket(int flushes) {
        this.flushesLeft = flushes;
    }

    void resetAfter(int flushes) {
        flushesLeft = flushes;
    }

    @Override
    public void flush(ChannelHandlerContext context) {
        if (--flushesLeft < 0) {
            context.close();
        } else {
            context.flush();
        }
    }
}
