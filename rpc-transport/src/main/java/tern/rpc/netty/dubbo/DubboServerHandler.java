package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.StatusCode;
import tern.rpc.netty.IncompleteInput;
import tern.rpc.netty.ServerConnection;

/**
 * Handles the server side of a dubbo connection. Requests become calls, and heartbeats are answered immediately.
 * Confined to the event loop.
 */
final class DubboServerHandler extends DubboFrameDecoder {

    private static final Logger LOG = LoggerFactory.getLogger(DubboServerHandler.class);

    /**
     * The maximum size of an event's body, in bytes. The handler rejects longer events, as Dubbo does
     * (docs/wire-protocol.md 1.6).
     */
    private static final int MAX_EVENT_BYTES = 15;

    private static final SeldomWarning TOO_LARGE = new SeldomWarning(LOG, NanoClock.SYSTEM, Duration.ofSeconds(10));

    private final DubboProtocol protocol;
    private final ServerConnection connection;
    private final IncompleteInput incomplete;
    private final FramesWithoutCall withoutCall = new FramesWithoutCall(NanoClock.SYSTEM);
    private boolean broken;

    DubboServerHandler(DubboProtocol protocol, ServerConnection connection) {
        super(connection.settings().maxRequestBytes());
        this.protocol = protocol;
        this.connection = connection;
        this.incomplete = connection.newIncompleteInput(this::broken);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        connection.heard();
        super.channelRead(context, message);
        countIncomplete(context);
    }

    @Override
    void restMoved(ChannelHandlerContext context) {
        countIncomplete(context);
    }

    private void countIncomplete(ChannelHandlerContext context) {
        int buffered = actualReadableBytes();
        // The buffer's capacity is counted instead of its content, because even a few bytes keep the whole buffer
        // allocated. Skipped bytes count only towards the time limit, because they are not kept.
        int held = buffered == 0 ? 0 : internalBuffer().capacity();
        incomplete.arrived(context, buffered + skippedBytes(), held);
    }

    @Override
    void frame(int flags, int status, long id, ByteBuf body) {
        incomplete.complete();
        connection.memory().messageComplete();
        if (broken) {
            body.release();
        } else if (!DubboHeader.isRequest(flags)) {
            body.release(); // a response is dropped, because the server sends no requests that need a response
            countWithoutCall();
        } else if (DubboHeader.isEvent(flags)) {
            event(flags, id, body);
        } else {
            request(flags, id, body);
        }
    }

    private void request(int flags, long id, ByteBuf body) {
        DubboServerCall call = new DubboServerCall(protocol, connection, flags, id, body);
        int serialization = DubboHeader.serialization(flags);
        if (serialization != DubboHeader.HESSIAN2) {
            call.refuse(RpcException.refusal(
                    StatusCode.INVALID_ARGUMENT,
                    "serialization " + DubboHeader.nameOf(serialization)
                            + " is not supported; set serialization=hessian2 for the reference or the consumer",
                    Executed.NO));
            return;
        }
        RpcException full = connection.calls().refusesCall();
        if (full != null) {
            call.refuse(full);
        } else {
            connection.calls().received(call);
        }
    }

    private void event(int flags, long id, ByteBuf body) {
        int length = body.readableBytes();
        boolean heartbeat = length == 0 || DubboHeader.serialization(flags) != DubboHeader.HESSIAN2 || isNull(body);
        body.release();
        countWithoutCall();
        if (broken) {
            return;
        }
        if (length >= MAX_EVENT_BYTES) {
            refuse(flags & ~DubboHeader.FLAG_EVENT, id, "an event has " + length + " bytes; at most 14 are accepted");
        } else if (heartbeat && DubboHeader.isTwoWay(flags)) {
            connection.queue().add(DubboFrame.heartbeatAnswer(id));
        }
    }

    private void countWithoutCall() {
        if (withoutCall.isTooMany()) {
            broken("more than " + FramesWithoutCall.MAX_FRAMES
                    + " heartbeats, other events and responses came within 30 s");
        }
    }

    private static boolean isNull(ByteBuf body) {
        return body.readableBytes() == 1 && body.getByte(body.readerIndex()) == 'N';
    }

    /**
     * Refuses a request above the size limit. Its body is skipped as it arrives, so that the other calls on the
     * connection continue. If the body is {@link #maySkip too long} for this, the connection is closed instead.
     */
    @Override
    boolean tooLarge(int flags, long id, int length) {
        if (broken) {
            return false;
        }
        String text = "the request has " + length + " bytes; at most "
                + connection.settings().maxRequestBytes()
                + " are accepted (set by rpc.limits.max-request)";
        if (DubboHeader.isRequest(flags)) {
            new DubboServerCall(protocol, connection, flags & ~DubboHeader.FLAG_EVENT, id, Unpooled.EMPTY_BUFFER)
                    .refuseTooLarge(RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, text, Executed.NO));
        }
        if (!maySkip(length)) {
            broken(text);
            return false;
        }
        TOO_LARGE.warn(() -> "A call from " + connection.remoteAddress() + " was refused: " + text, null);
        return true;
    }

    @Override
    void skipEnded() {
        incomplete.complete();
        connection.memory().messageComplete();
    }

    private void refuse(int flags, long id, String text) {
        new DubboServerCall(protocol, connection, flags, id, Unpooled.EMPTY_BUFFER)
                .refuse(RpcException.refusal(StatusCode.INVALID_ARGUMENT, text, Executed.NO));
    }

    @Override
    void broken(String how) {
        if (!broken) {
            broken = true;
            connection.violated(how);
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        LOG.debug("Closing {}", context.channel(), cause);
        context.close();
    }
}
