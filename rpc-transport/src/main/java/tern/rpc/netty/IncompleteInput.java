package tern.rpc.netty;

import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The received bytes that the decoder of a server connection keeps because their frame or header is incomplete. These
 * bytes count in the memory budget for requests. If the rest of the frame or header arrives more slowly than the
 * minimum rate, the connection is closed. A connection with running or arriving calls stays open for longer, because a
 * short interruption of the network would otherwise end all of its calls. Confined to the event loop.
 */
public final class IncompleteInput {

    private static final long BETWEEN_LOOKS_MILLIS = 1_000;

    /** The methods of a server connection that this class needs. */
    interface Reading {
        ServerTransportSettings settings();

        OpenRequestMemory memory();

        /** Returns whether the bytes arrive more slowly than permitted. */
        boolean isTooSlow(BodyPace pace, long arrivedBytes, long now);

        /**
         * Returns true if the connection has calls other than health watches and at most a quarter of the memory for
         * requests is in use. In this case, requests that arrive slowly are harmless.
         */
        boolean hasPatience();

        /** Describes why {@link #isTooSlow} returned true, as text for error messages. */
        String slowBody(BodyPace pace, long arrivedBytes, long now);
    }

    private final Reading connection;
    private final Consumer<String> tooSlow;
    // the speed of the incomplete frame, measured from its beginning or from the end of the previous frame
    private final BodyPace pace = new BodyPace(System.nanoTime());
    private int arrived; // the number of received bytes of the incomplete frame
    private int countedBytes; // the number of bytes that count in the memory budget for the incomplete frame
    private boolean watching;
    private @Nullable Future<?> nextLook;

    /** @param tooSlow closes the connection; its argument is the reason, as text for error messages */
    IncompleteInput(Reading connection, Consumer<String> tooSlow) {
        this.connection = connection;
        this.tooSlow = tooSlow;
    }

    /** Called when a frame is complete. The speed of the next frame is measured separately. */
    public void complete() {
        pace.restart(System.nanoTime(), 0);
    }

    /**
     * Called after each read. Starts or continues the accounting and the time limit of the incomplete frame, if there
     * is one.
     *
     * @param bytes the number of received bytes of the incomplete frame; 0 if no frame is incomplete
     * @param held the memory that the kept bytes occupy
     */
    public void arrived(ChannelHandlerContext context, int bytes, int held) {
        if (bytes > 0 && arrived == 0) {
            complete();
        }
        arrived = bytes;
        connection.memory().incomplete(held - countedBytes);
        countedBytes = held;
        if (bytes > 0 && !watching) {
            watching = true;
            watch(context, connection.settings().firstBytesTimeout().toMillis());
        }
    }

    private void watch(ChannelHandlerContext context, long millis) {
        if (nextLook == null) {
            // The timer is cancelled when the connection is closed, because it would keep the connection's objects in
            // memory.
            context.channel().closeFuture().addListener(closed -> cancelLook());
        }
        nextLook = context.executor().schedule(() -> look(context), millis, TimeUnit.MILLISECONDS);
    }

    private void cancelLook() {
        Future<?> next = nextLook;
        if (next != null) {
            next.cancel(false);
        }
    }

    private void look(ChannelHandlerContext context) {
        watching = arrived > 0 && context.channel().isActive();
        if (!watching) {
            return;
        }
        long now = System.nanoTime();
        if (connection.isTooSlow(pace, arrived, now) && !mayTakeLonger(now)) {
            watching = false;
            tooSlow.accept(connection.slowBody(pace, arrived, now));
        } else {
            watch(context, BETWEEN_LOOKS_MILLIS);
        }
    }

    /**
     * Returns whether the connection may stay open although the bytes arrive slowly. A connection may stay open for at
     * most the idle timeout, and only while {@link Reading#hasPatience} is true.
     */
    private boolean mayTakeLonger(long now) {
        return now - pace.sinceNanos() < connection.settings().idleTimeout().toNanos() && connection.hasPatience();
    }
}
