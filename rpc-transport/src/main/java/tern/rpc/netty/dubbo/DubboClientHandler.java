package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;

/**
 * Handles the client side of a dubbo connection. It passes answers to their calls without decoding them. Confined to
 * the event loop.
 */
final class DubboClientHandler extends DubboFrameDecoder {

    private static final Logger LOG = LoggerFactory.getLogger(DubboClientHandler.class);

    private final DubboProtocol protocol;
    private final Connection connection;

    DubboClientHandler(DubboProtocol protocol, Connection connection) {
        super(connection.settings().maxResponseBytes());
        this.protocol = protocol;
        this.connection = connection;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        connection.heard();
        super.channelRead(context, message);
    }

    @Override
    void frame(int flags, int status, long id, ByteBuf body) {
        if (DubboHeader.isEvent(flags)) {
            try {
                event(flags, id, body);
            } finally {
                body.release();
            }
        } else if (DubboHeader.isRequest(flags)) {
            body.release();
            LOG.debug("{} sent a request to its client; it is ignored", connection.endpoint());
        } else {
            connection.answered(id, new DubboAnswer(protocol, connection.endpoint(), flags, status, body));
        }
    }

    private void event(int flags, long id, ByteBuf body) {
        if (!DubboHeader.isRequest(flags)) {
            if (connection.isPending(id)) {
                broken("an answer to a call is marked as an event");
            }
            return; // the answer to a heartbeat proves that the server is alive and needs no further processing
        }
        int length = body.readableBytes();
        int start = body.readerIndex();
        if (length == 2 && body.getByte(start) == 1) {
            if (body.getByte(start + 1) == 'R') {
                connection.drain();
            } // the event "W" (the server accepts calls again) is ignored, because a replacement is already open
        } else if (DubboHeader.isTwoWay(flags)) {
            connection.queue().add(DubboFrame.heartbeatAnswer(id));
        }
    }

    @Override
    boolean tooLarge(int flags, long id, int length) {
        if (DubboHeader.isRequest(flags)) {
            return true;
        }
        connection.failed(
                id,
                new RpcException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "the answer of " + connection.endpoint() + " has " + length + " bytes; at most "
                                + connection.settings().maxResponseBytes()
                                + " are accepted (set by rpc.limits.max-response)",
                        Executed.YES,
                        null));
        return true;
    }

    @Override
    void broken(String how) {
        LOG.warn("Closing the connection to {}: {}", connection.endpoint(), PeerText.text(how));
        connection.close(how);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        connection.close(cause.toString());
    }
}
