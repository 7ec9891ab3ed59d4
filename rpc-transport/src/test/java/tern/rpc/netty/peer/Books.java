package tern.rpc.netty.peer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.ServerTransport;

/**
 * The resources that a server and its clients use for calls. When no call is running, all of these resources must be
 * free.
 */
public final class Books {

    private static final List<RpcMeter> HELD = List.of(
            RpcMeter.SERVER_CONCURRENCY,
            RpcMeter.SERVER_IN_FLIGHT,
            RpcMeter.SERVER_INBOUND,
            RpcMeter.SERVER_UNSENT,
            RpcMeter.SERVER_WRITE_QUEUE,
            RpcMeter.SERVER_WORKERS_ACTIVE,
            RpcMeter.SERVER_WORKERS_QUEUED,
            RpcMeter.CLIENT_IN_FLIGHT,
            RpcMeter.CLIENT_WRITE_QUEUE);

    private final MeterRegistry registry;
    private @Nullable WatchedTransport transport;

    /** @param registry the registry with the meters of the server and the clients */
    public Books(MeterRegistry registry) {
        this.registry = registry;
    }

    /** Wraps the transport, so that {@link #awaitBalanced} also checks the limiter permits of each tenant. */
    public ServerTransport watching(ServerTransport given) {
        transport = ResourceLedger.watched(given);
        return transport;
    }

    /** Blocks until no resource is in use. */
    public void awaitBalanced(RpcServer server) {
        try {
            Await.until("nothing is held", () -> open(server).isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("still held: " + open(server), e);
        }
    }

    /** Describes the resources that are in use; empty if there are none. */
    private List<String> open(RpcServer server) {
        List<String> open = new ArrayList<>();
        for (RpcMeter meter : HELD) {
            for (Gauge gauge : registry.find(meter.key()).gauges()) {
                if (gauge.value() != 0) {
                    open.add(gauge.value() + " of " + meter.key());
                }
            }
        }
        if (transport != null) {
            open.addAll(transport.heldForCalls());
        }
        if (!server.runningCalls().isEmpty()) {
            open.add(server.runningCalls() + " as running calls");
        }
        if (server.workers().admitted() != 0) {
            open.add(server.workers().admitted() + " tasks of the workers");
        }
        return open;
    }
}
