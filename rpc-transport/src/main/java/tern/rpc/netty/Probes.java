package tern.rpc.netty;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a silent server is alive by sending a small request on a separate connection, for protocols without
 * heartbeats. Thread-safe.
 */
final class Probes {

    private final Supplier<SpareConnection> maker;
    private final EventLoops loops;
    private final AtomicReference<@Nullable SpareConnection> last = new AtomicReference<>();
    // the duration of the fastest connection attempt; slower attempts might have been delayed by this process
    private volatile long openingNanos;

    Probes(Supplier<SpareConnection> maker, EventLoops loops) {
        this.maker = maker;
        this.loops = loops;
    }

    /** Starts a check. Does nothing if a check is running. */
    void begin() {
        SpareConnection running = last.get();
        if (running != null && !running.isOver()) {
            return;
        }
        SpareConnection begun = maker.get();
        if (last.compareAndSet(running, begun)) {
            begun.begin(loops);
        }
    }

    /** Called when a connection to the server has been opened. */
    void opened(long tookNanos) {
        long known = openingNanos;
        if (known == 0 || tookNanos < known) {
            openingNanos = tookNanos;
        }
    }

    /** Returns the expected time until a check has opened its connection and can send its request. */
    long delayNanos() {
        return openingNanos;
    }

    /** Ends the running check. */
    void close() {
        SpareConnection running = last.get();
        if (running != null) {
            running.close();
        }
    }
}
