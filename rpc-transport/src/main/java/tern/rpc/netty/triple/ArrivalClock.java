package tern.rpc.netty.triple;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.netty.ServerConnection;

/**
 * How long a head takes to come from its first byte on, or the rest of a body that nobody wants; calls look after their
 * bodies themselves. Event loop only.
 */
final class ArrivalClock {

    private final ServerConnection connection;
    private final Runnable tooSlow;
    private @Nullable Future<?> running;

    ArrivalClock(ServerConnection connection, Runnable tooSlow) {
        this.connection = connection;
        this.tooSlow = tooSlow;
    }

    /** Something is on its way; the time runs already if it was before. */
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

    /** It has come. */
    void stop() {
        Future<?> present = running;
        if (present != null) {
            present.cancel(false);
            running = null;
        }
    }
}
