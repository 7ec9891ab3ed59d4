package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandlerContext;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.ServerConnection;

/**
 * Counts the answer bytes of one HTTP/2 connection that the client has not read. If too many bytes are unread, new
 * calls are refused. If many bytes are unread and the client reads none for a minute, the connection is closed.
 * Confined to the event loop.
 */
final class AnswerAccount {

    private final ServerConnection connection;
    private final Http2Limits limits;
    private final Consumer<String> stalled;
    private final UnreadAnswers unread = new UnreadAnswers();
    private @Nullable ChannelHandlerContext context;
    private boolean watching;

    /**
     * @param stalled closes the connection if the client reads nothing for a minute; its argument is the reason, as
     *     text for the client
     */
    AnswerAccount(ServerConnection connection, Http2Limits limits, Consumer<String> stalled) {
        this.connection = connection;
        this.limits = limits;
        this.stalled = stalled;
    }

    /** Called when the connection's handler has been added to its channel. */
    void added(ChannelHandlerContext handler) {
        context = handler;
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context);
    }

    /** Called when bytes of an answer are being written. */
    void writing(int bytes) {
        limits.moved();
        limits.answered(bytes);
        unread.add(bytes, System.nanoTime());
        if (unread.mayStall() && !watching) {
            watching = true;
            watchLater();
        }
    }

    /** Called when bytes of an answer have been written or dropped. */
    void written(int bytes) {
        limits.moved();
        unread.left(bytes, System.nanoTime());
    }

    /** Called when the client has sent a WINDOW_UPDATE frame. */
    void windowOpened(long now) {
        unread.windowOpened(now);
    }

    long unreadBytes() {
        return unread.bytes();
    }

    private void watchLater() {
        context().executor().schedule(this::watch, UnreadAnswers.STALL_NANOS / 4, TimeUnit.NANOSECONDS);
    }

    /** Closes the connection if more than 8 MiB of answers are waiting and the client has read nothing for a minute. */
    private void watch() {
        watching = unread.mayStall() && context().channel().isActive();
        if (!watching) {
            return;
        }
        if (unread.areStalled(System.nanoTime())) {
            stalled.accept(unread.bytes() + " bytes of answers wait, and the client has read none of them for "
                    + TimeUnit.NANOSECONDS.toSeconds(UnreadAnswers.STALL_NANOS) + " s");
        } else {
            watchLater();
        }
    }

    /** Returns the reason why the connection accepts no more calls; null if it accepts them. */
    @Nullable
    RpcException overload() {
        String reason;
        if (unread.areTooMany()) {
            reason = "; above " + UnreadAnswers.MAX_BYTES + ", no further call is accepted";
        } else if (connection.unread().areTooMany()) {
            reason = ", and the answers of all connections fill their memory; no further call is accepted"
                    + " (derived from rpc.limits.max-unsent-answers)";
        } else {
            return null;
        }
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                unread.bytes() + " bytes of answers on this connection have not been read yet" + reason,
                Executed.NO);
    }
}
