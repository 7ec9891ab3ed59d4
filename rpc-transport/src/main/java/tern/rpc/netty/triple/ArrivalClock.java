package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.ServerConnection;

/**
 * Limits the time from the first byte of a request until its headers are complete. Also limits the time for the rest of
 * a body after its call has been answered. Before the answer, the call itself limits the time for its body. Confined to
 * the event loop.
 */
final class ArrivalClock {

    private final ServerConnection connection;
    private final Runnable tooSlow;
    private @Nullable Future<?> running;

    ArrivalClock(ServerConnection connection, Runnable tooSlow) {
        this.connection = connection;
        this.tooSlow = tooSlow;
    }

    /** Starts the timer unless it is already running. */
    void run(ChannelHandlerContext context) {
        if (running == null) {
            long nanos = connection.settings().firstBytesTimeout().toNanos();
            running = context.executor().schedule(this::expired, nanos, TimeUnit.NANOSECONDS);
        }
    }

    private void expired() {
        running = null;
        tooSlow.run();
    }

    void stop() {
        Future<?> current = running;
        if (current != null) {
            current.cancel(false);
            running = null;
        }
    }
}
