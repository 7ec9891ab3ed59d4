package tern.rpc.netty.triple;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.netty.AnswerReader;
import tern.rpc.netty.Connection;
import tern.rpc.transport.Answer;
import tern.rpc.transport.PendingCall;

/**
 * Handles the client side of an HTTP/1.1 connection, which transmits one call at a time. Confined to the event loop.
 */
final class Http1ClientHandler extends ChannelInboundHandlerAdapter {

    private static final String UNASKED = "the server sent an answer without a request";

    private final Connection connection;
    private final AnswerReader answers;
    private @Nullable EventLoop loop;
    private @Nullable JsonRequest request; // the current request, until its answer is complete
    private ByteBuf unread = Unpooled.EMPTY_BUFFER;

    Http1ClientHandler(Connection connection, AnswerReader answers) {
        this.connection = connection;
        this.answers = answers;
    }

    /** Returns the handler of a channel. */
    static Http1ClientHandler of(Channel channel) {
        return Objects.requireNonNull(channel.pipeline().get(Http1ClientHandler.class));
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        loop = added.channel().eventLoop();
    }

    // ---- Request output

    /** Called when a request is about to be written. */
    void begin(JsonRequest begun) {
        request = begun;
    }

    /**
     * Closes the connection if a one-way call has not been answered by its deadline. The caller of a one-way call does
     * not wait for the answer, and so cannot close the connection itself.
     */
    void endsUnheard(PendingCall call) {
        long id = call.id();
        Deadline deadline = call.call().deadline();
        long nanos = deadline.isLimited()
                ? deadline.remainingNanos(System.nanoTime())
                : connection.settings().heartbeat().toNanos();
        loop().schedule(() -> abandon(id), nanos, TimeUnit.NANOSECONDS);
    }

    private EventLoop loop() {
        return Objects.requireNonNull(loop);
    }

    /**
     * Called when the caller of this call no longer waits for the answer. Closes the connection if it is busy with this
     * call.
     */
    void abandon(long id) {
        JsonRequest awaited = request;
        if (awaited != null && awaited.pending().id() == id) {
            connection.close("its call was given up");
        }
    }

    // ---- Answer input

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        connection.heard();
        unread = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(context.alloc(), unread, (ByteBuf) message);
        JsonRequest awaited = request;
        if (awaited == null) {
            connection.close(UNASKED);
        } else {
            readOn(awaited);
        }
        if (!unread.isReadable() || request == null) {
            unread.release();
            unread = Unpooled.EMPTY_BUFFER;
        } else {
            // discards the processed bytes, which would otherwise accumulate during a large answer in many chunks
            unread.discardSomeReadBytes();
        }
    }

    private void readOn(JsonRequest awaited) {
        Answer answer;
        try {
            answer = answers.read(unread, awaited.pending());
        } catch (RpcException e) {
            request = null;
            connection.failed(awaited.pending().id(), e);
            connection.close(String.valueOf(e.status().description()));
            return;
        }
        if (answer != null) {
            ended(awaited, answer);
        }
    }

    private void ended(JsonRequest answered, Answer answer) {
        request = null;
        boolean surplus = unread.isReadable();
        // The connection is not reused while bytes of this request are unsent, because the next request would have to
        // wait until they have been sent.
        boolean reusable =
                answers.keepsAlive() && !surplus && connection.queue().queuedBytes() == 0;
        if (reusable) {
            // the connection is released before the answer is delivered, so that the caller's next call can use it
            connection.released();
        }
        if (!answered.pending().isOneWay()) {
            connection.answered(answered.pending().id(), answer);
        }
        if (!reusable) {
            connection.close(
                    surplus
                            ? UNASKED
                            : answers.keepsAlive()
                                    ? "the server answered before it had read the request"
                                    : "the server closes it after the answer");
        }
    }

    private void forget() {
        request = null;
        answers.end();
        unread.release();
        unread = Unpooled.EMPTY_BUFFER;
    }

    @Override
    public void channelInactive(ChannelHandlerContext closed) {
        forget();
        closed.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        connection.close(cause.toString());
    }
}
