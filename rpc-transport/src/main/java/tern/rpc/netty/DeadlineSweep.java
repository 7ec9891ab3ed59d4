package tern.rpc.netty;

import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Fails the calls of one client connection whose deadlines have passed. The deadlines are checked periodically on the
 * event loop while there are pending calls. Thread-safe.
 */
final class DeadlineSweep {

    /** The maximum time between a call's deadline and its failure. */
    private static final long SWEEP_MILLIS = 20;

    private final Connection connection;
    private final PendingCalls pending;
    private final AtomicBoolean sweeping = new AtomicBoolean(); // true while the next check is scheduled

    DeadlineSweep(Connection connection, PendingCalls pending) {
        this.connection = connection;
        this.pending = pending;
    }

    /** Called when a call has been added, and when the event loop of the connection is known. */
    void sweepLater() {
        EventLoop loop = connection.eventLoop();
        if (loop != null && pending.size() > 0 && !sweeping.get() && sweeping.compareAndSet(false, true)) {
            try {
                loop.schedule(this::sweep, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                connection.close("the event loops are closed");
            }
        }
    }

    private void sweep() {
        try {
            pending.sweep(System.nanoTime(), connection::late);
        } finally {
            sweeping.set(false);
            sweepLater();
        }
        connection.closeIfDrained();
    }
}
