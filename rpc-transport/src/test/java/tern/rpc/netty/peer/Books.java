package tern.rpc.netty.peer;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import tern.rpc.ServiceDescriptor;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.ServiceLookup;

/** What one server and its clients hold for calls, which is nothing between calls. */
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
    private final Set<Share> shares = ConcurrentHashMap.newKeySet();

    /** @param registry that server and clients write to */
    public Books(MeterRegistry registry) {
        this.registry = registry;
    }

    /** The transport, watched for whose calls it brings. */
    public ServerTransport watching(ServerTransport transport) {
        return new Watched(transport, shares);
    }

    /** Waits until nothing is held. */
    public void awaitBalanced(RpcServer server) {
        try {
            Await.until("nothing is held", () -> open(server).isEmpty());
        } catch (AssertionError e) {
            throw new AssertionError("still held: " + open(server), e);
        }
    }

    /** In words, each thing that is held. */
    private List<String> open(RpcServer server) {
        List<String> open = new ArrayList<>();
        for (RpcMeter meter : HELD) {
            for (Gauge gauge : registry.find(meter.key()).gauges()) {
                if (gauge.value() != 0) {
                    open.add(gauge.value() + " of " + meter.key());
                }
            }
        }
        for (Share share : shares) {
            if (share.held() != 0 || share.working() != 0 || share.streaming() != 0) {
                open.add(share.held() + " calls, " + share.working() + " of them with threads, and " + share.streaming()
                        + " runs of streams by " + share.tenant());
            }
        }
        if (!server.runningCalls().isEmpty()) {
            open.add(server.runningCalls() + " as running calls");
        }
        if (server.workers().admitted() != 0) {
            open.add(server.workers().admitted() + " tasks of the workers");
        }
        return open;
    }

    private record Watched(ServerTransport transport, Set<Share> shares) implements ServerTransport {

        @Override
        public void prepare(ServiceDescriptor service) {
            transport.prepare(service);
        }

        @Override
        public void start(CallHandler handler) {
            transport.start(new WatchedHandler(handler, shares));
        }

        @Override
        public int port() {
            return transport.port();
        }

        @Override
        public void drain() {
            transport.drain();
        }

        @Override
        public int connections() {
            return transport.connections();
        }

        @Override
        public long received() {
            return transport.received();
        }

        @Override
        public int inFlight() {
            return transport.inFlight();
        }

        @Override
        public long queuedBytes() {
            return transport.queuedBytes();
        }

        @Override
        public long inboundBytes() {
            return transport.inboundBytes();
        }

        @Override
        public long unsentBytes() {
            return transport.unsentBytes();
        }

        @Override
        public long stalledStreams() {
            return transport.stalledStreams();
        }

        @Override
        public void close() {
            transport.close();
        }
    }

    private record WatchedHandler(CallHandler handler, Set<Share> shares) implements CallHandler {

        @Override
        public void handle(ServerCall call) {
            Share share = call.share();
            if (share != null) {
                shares.add(share);
            }
            handler.handle(call);
        }

        @Override
        public void refused(Refusal reason) {
            handler.refused(reason);
        }

        @Override
        public ServiceLookup services() {
            return handler.services();
        }

        @Override
        public boolean asksWhoCalls() {
            return handler.asksWhoCalls();
        }

        @Override
        public boolean asksAuthorizers() {
            return handler.asksAuthorizers();
        }

        @Override
        public AcceptedTokens tokens() {
            return handler.tokens();
        }
    }
}
