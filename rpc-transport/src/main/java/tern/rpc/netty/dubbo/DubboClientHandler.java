package tern.rpc.netty.dubbo;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.Connection;
import tern.rpc.netty.ServerFaults;

/**
 * Handles the client side of a dubbo connection. The handler passes answers to their calls without decoding them.
 * Confined to the event loop.
 */
final class DubboClientHandler extends DubboFrameDecoder {

    private static final Logger LOG = LoggerFactory.getLogger(DubboClientHandler.class);

    /** The maximum number of answers to heartbeats that wait for the socket (docs/limits.md). */
    static final int MAX_UNSENT_ANSWERS = 1_000;

    /**
     * The maximum number of frames within 30 seconds that belong to no call (docs/limits.md). Late answers to calls
     * that have already ended are not counted, because a server might send many late answers at once after a pause.
     */
    static final int MAX_SURPLUS = 4_096;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** The text of the event that asks the client to send no more calls (docs/wire-protocol.md 1.6). */
    private static final byte READ_ONLY = 'R';

    /** The maximum size of an event that is searched for {@link #READ_ONLY}. Dubbo's events are at most 15 bytes long.
     */
    private static final int MAX_EVENT_BYTES = 64;

    private final DubboProtocol protocol;
    private final Connection connection;

    private @Nullable ChannelHandlerContext context;
    private int unsentAnswers;
    private boolean answering; // true if an answer to a heartbeat has been written but not yet flushed
    private boolean broken;
    private boolean frames; // true if the bytes of the current read have completed a frame
    private int surplus; // the number of frames in the current time window that belonged to no call
    private long windowNanos;
    private long late; // the number of answers that arrived after their calls had ended

    DubboClientHandler(DubboProtocol protocol, Connection connection) {
        super(connection.settings().maxResponseBytes());
        this.protocol = protocol;
        this.connection = connection;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
        windowNanos = nanoTime();
    }

    private long nanoTime() {
        return Objects.requireNonNull(context).executor().ticker().nanoTime();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
        connection.heard();
        int bytes = ((ByteBuf) message).readableBytes();
        frames = false;
        super.channelRead(context, message);
        connection.progressed(bytes, frames);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) throws Exception {
        super.channelReadComplete(context);
        if (answering) {
            answering = false;
            context.flush();
        }
    }

    @Override
    void frame(int flags, int status, long id, ByteBuf body) {
        frames = true;
        if (broken || isFlood(flags, id)) {
            body.release();
        } else if (DubboHeader.isEvent(flags)) {
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

    /** Closes the connection if the server has sent too many frames that belong to no call. */
    private boolean isFlood(int flags, long id) {
        if (!DubboHeader.isEvent(flags) && !DubboHeader.isRequest(flags)) {
            if (connection.calls().contains(id)) {
                return false;
            }
            if (late < connection.calls().unanswered()) {
                late++;
                return false;
            }
        }
        long now = nanoTime();
        if (now - windowNanos > WINDOW_NANOS) {
            windowNanos = now;
            surplus = 0;
        }
        if (++surplus > MAX_SURPLUS) {
            broken(surplus + " frames that answer no call came within 30 s");
            return true;
        }
        return false;
    }

    /**
     * Answers a heartbeat. Closes the connection if too many answers to heartbeats are waiting for the server to read
     * them.
     */
    private void answer(long id) {
        ChannelHandlerContext writing = Objects.requireNonNull(context);
        if (unsentAnswers >= MAX_UNSENT_ANSWERS) {
            writing.flush();
        }
        if (unsentAnswers >= MAX_UNSENT_ANSWERS) {
            broken(MAX_UNSENT_ANSWERS + " answers to heartbeats wait for the server to read them");
            return;
        }
        unsentAnswers++;
        answering = true;
        writing.write(DubboFrame.heartbeatAnswer(id).buffer()).addListener(done -> unsentAnswers--);
    }

    private void event(int flags, long id, ByteBuf body) {
        if (!DubboHeader.isRequest(flags)) {
            if (connection.calls().contains(id)) {
                broken("an answer to a call is marked as an event");
            }
            return; // the answer to a heartbeat only proves that the server is alive, so nothing more needs to be done
        }
        if (isReadOnly(flags, body)) {
            connection.drain();
        } else if (DubboHeader.isTwoWay(flags) && !isText(body)) {
            answer(id);
        }
    }

    /**
     * Returns whether the event asks the client to send no more calls. Ignores the event "W", with which a server
     * announces that it accepts calls again, because a replacement for the connection is already open. Dubbo's
     * providers write events in their own preferred serialization, for example fastjson2. A one-way event in a
     * serialization other than hessian2 is therefore recognized by the letter R in its bytes.
     */
    private static boolean isReadOnly(int flags, ByteBuf body) {
        if (isText(body)) {
            return body.getByte(body.readerIndex() + 1) == READ_ONLY;
        }
        return DubboHeader.serialization(flags) != DubboHeader.HESSIAN2
                && !DubboHeader.isTwoWay(flags)
                && body.readableBytes() <= MAX_EVENT_BYTES
                && body.indexOf(body.readerIndex(), body.writerIndex(), READ_ONLY) >= 0;
    }

    /** Returns whether the event is a hessian2 string of one character. Heartbeats do not contain such a string. */
    private static boolean isText(ByteBuf body) {
        return body.readableBytes() == 2 && body.getByte(body.readerIndex()) == 1;
    }

    /**
     * Fails the call whose answer is too large. The body is skipped as it arrives, so that the other calls on the
     * connection continue. If the body is {@link #maySkip too long} for this, the connection is closed instead.
     */
    @Override
    boolean tooLarge(int flags, long id, int length) {
        String text = "the answer of " + connection.endpoint() + " has " + length + " bytes; at most "
                + connection.settings().maxResponseBytes() + " are accepted (set by rpc.limits.max-response)";
        if (!DubboHeader.isRequest(flags)) {
            connection.failed(id, new RpcException(StatusCode.RESOURCE_EXHAUSTED, text, Executed.YES, null));
        }
        if (!maySkip(length)) {
            broken(text);
            return false;
        }
        return true;
    }

    @Override
    void skipEnded() {
        frames = true;
    }

    @Override
    void broken(String how) {
        broken = true;
        ServerFaults.closing(connection.endpoint(), how, null);
        connection.close(how);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        connection.close(cause.toString());
    }
}
