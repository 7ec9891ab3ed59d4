package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.concurrent.TimeUnit;

/**
 * Checks whether the first bytes from a server belong to the expected protocol, and then removes itself from the
 * pipeline. If the server uses another protocol, it cannot have executed a request, so the exceptions of the calls
 * state that the calls were not executed. The error message names the server's protocol. Confined to the event loop.
 */
final class FirstBytes extends ChannelInboundHandlerAdapter {

    /**
     * How long the handler waits for more bytes if fewer than five have arrived and they do not identify the server's
     * protocol.
     */
    private static final long PATIENCE_MILLIS = 100;

    private final Connection connection;
    private final ClientProtocol protocol;
    private ByteBuf kept = Unpooled.EMPTY_BUFFER;
    private boolean refused;
    private boolean waiting;

    FirstBytes(Connection connection, ClientProtocol protocol) {
        this.connection = connection;
        this.protocol = protocol;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (refused) {
            ((ByteBuf) message).release();
            return;
        }
        kept = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), kept, (ByteBuf) message);
        switch (protocol.answersSo(kept)) {
            case YES -> pass(context);
            case NO -> {
                if (kept.readableBytes() >= UnexpectedProtocols.ENOUGH_BYTES
                        || UnexpectedProtocols.protocol(kept) != null) {
                    refuse();
                } else if (!waiting) { // more bytes might identify the protocol that the server uses
                    waiting = true;
                    context.executor().schedule(this::refuse, PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
                }
            }
            case MAYBE -> {} // the handler keeps the bytes until more bytes arrive or the connection is closed
        }
    }

    private void pass(ChannelHandlerContext context) {
        ByteBuf all = kept;
        kept = Unpooled.EMPTY_BUFFER;
        context.pipeline().remove(this);
        context.fireChannelRead(all);
    }

    private void refuse() {
        if (refused) {
            return;
        }
        refused = true;
        String reason = UnexpectedProtocols.describe(kept, protocol.name());
        boolean proven =
                UnexpectedProtocols.protocol(kept) != null || (!protocol.isText() && UnexpectedProtocols.isText(kept));
        kept.release();
        kept = Unpooled.EMPTY_BUFFER;
        if (proven) {
            connection.refused(reason);
        } else {
            connection.close(reason);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        if (kept.isReadable()) {
            refuse();
        }
        refused = true; // the flag makes the scheduled check of the first bytes do nothing
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        kept.release();
        kept = Unpooled.EMPTY_BUFFER;
    }
}
