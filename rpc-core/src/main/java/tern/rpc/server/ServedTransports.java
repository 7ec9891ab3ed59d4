package tern.rpc.server;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.transport.ServerTransport;

/** The transports of one server. Waits for their calls when the server drains, and closes them. Thread-safe. */
final class ServedTransports {

    private static final Logger LOG = LoggerFactory.getLogger(RpcServer.class);

    /**
     * The idle time after which draining ends. The server is idle while there is no call in flight, no new call and no
     * unsent answer.
     */
    private static final Duration QUIET = Duration.ofSeconds(2);

    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    private final ServerTransport first;
    private final List<ServerTransport> all = new CopyOnWriteArrayList<>();
    private final NanoClock clock;

    /** @param first the transport that is drained when the server stops */
    ServedTransports(ServerTransport first, NanoClock clock) {
        this.first = first;
        this.clock = clock;
        all.add(first);
    }

    void add(ServerTransport another) {
        all.add(another);
    }

    boolean contains(ServerTransport transport) {
        return all.contains(transport);
    }

    /** Calls the function for all transports and returns the sum of the results. */
    long sum(ToLongFunction<ServerTransport> number) {
        long sum = 0;
        for (ServerTransport each : all) {
            sum += number.applyAsLong(each);
        }
        return sum;
    }

    void register(RpcMeters meters) {
        meters.gauge(RpcMeter.SERVER_CONNECTIONS, this, served -> served.sum(ServerTransport::connections));
        meters.gauge(RpcMeter.SERVER_IN_FLIGHT, this, served -> served.sum(ServerTransport::inFlight));
        meters.gauge(RpcMeter.SERVER_WRITE_QUEUE, this, served -> served.sum(ServerTransport::queuedBytes));
        meters.gauge(RpcMeter.SERVER_INBOUND, this, served -> served.sum(ServerTransport::inboundBytes));
        meters.gauge(RpcMeter.SERVER_UNSENT, this, served -> served.sum(ServerTransport::unsentBytes));
        meters.counter(RpcMeter.SERVER_STREAMS_STALLED, this, served -> served.sum(ServerTransport::stalledStreams));
    }

    /**
     * Blocks until all connections are closed and the first transport has no call in flight, or until there has been no
     * work for two seconds. Logs a warning if calls or unsent answers are left.
     *
     * @param atMost the maximum time to block
     */
    void awaitQuiet(Duration atMost) {
        long end = clock.nanoTime() + atMost.toNanos();
        long quietSince = clock.nanoTime();
        long seen = sum(ServerTransport::received);
        // a one-way call may still be running after its connection has been closed
        while ((sum(ServerTransport::connections) > 0 || first.inFlight() > 0) && clock.nanoTime() - end < 0) {
            if (sum(ServerTransport::received) != seen || sum(ServerTransport::inFlight) > 0 || isSending()) {
                seen = sum(ServerTransport::received);
                quietSince = clock.nanoTime();
            } else if (clock.nanoTime() - quietSince >= QUIET.toNanos()) {
                return;
            }
            LockSupport.parkNanos(LOOK_EVERY.toNanos());
        }
        long running = sum(ServerTransport::inFlight);
        long unsent = unsentBytes();
        if (running > 0 || unsent > 0) {
            LOG.warn(
                    "{} were still running, and {} bytes of answers were not sent, after {} of draining"
                            + " (set by rpc.server.shutdown-timeout)",
                    running == 1 ? "1 call" : running + " calls",
                    unsent,
                    PropertyCheck.text(atMost));
        }
    }

    /**
     * Returns whether answers are still waiting to be sent to clients. The calls of these answers no longer count as in
     * flight.
     */
    private boolean isSending() {
        return unsentBytes() > 0 || sum(ServerTransport::endingConnections) > 0;
    }

    /**
     * Returns the number of unsent answer bytes. The result is the larger of two counts, because some bytes are
     * included in both counts.
     */
    private long unsentBytes() {
        return Math.max(sum(ServerTransport::queuedBytes), sum(ServerTransport::unsentBytes));
    }

    void close() {
        all.forEach(ServerTransport::close);
    }
}
