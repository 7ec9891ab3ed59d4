package tern.rpc.spring.autoconfigure.actuate;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.client.Provider;
import tern.rpc.client.RpcClient;
import tern.rpc.metrics.LatencyWindow;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.server.RpcServer;
import tern.rpc.spring.autoconfigure.RpcReferences;
import tern.rpc.spring.autoconfigure.RpcServerLifecycle;
import tern.rpc.transport.ClientConnection;

/**
 * The services and references of the application, with their current state.
 *
 * @param server the server; null if nothing is exported
 * @param served the calls served in the last minute
 * @param called the calls made in the last minute
 */
public record RpcReport(
        @Nullable Server server,
        List<Reference> references,
        Target target,
        LatencyWindow.Report served,
        LatencyWindow.Report called) {

    /**
     * The state of the server.
     *
     * @param port the port; null if the server is not running
     */
    public record Server(boolean running, @Nullable Integer port, int connections, List<Service> services) {}

    /**
     * An exported service.
     *
     * @param key the group, interface and version
     */
    public record Service(String key, int weight) {}

    /**
     * A reference.
     *
     * @param service the group, interface and version
     */
    public record Reference(String service, List<Address> endpoints) {

        boolean isReachable() {
            return endpoints.stream().anyMatch(address -> address.state() == State.CONNECTED);
        }
    }

    /** The state of one provider. */
    public enum State {
        CONNECTED,
        CONNECTING,
        UNREACHABLE
    }

    /**
     * The state of one address.
     *
     * @param lastFailure the reason why the address is not connected; empty if it is connected
     */
    public record Address(String address, int weight, State state, int inFlight, String lastFailure) {}

    /** The target rate and the target latency. The report compares the calls of the last minute with these targets. */
    public record Target(int qps, double latencyMillis) {}

    static RpcReport of(
            @Nullable RpcServer server,
            @Nullable RpcServerLifecycle lifecycle,
            RpcReferences references,
            RpcMeters meters) {
        RpcClient client = references.client();
        return new RpcReport(
                server == null || lifecycle == null || !lifecycle.servesSomething() ? null : server(server, lifecycle),
                client == null
                        ? List.of()
                        : client.references().stream().map(RpcReport::reference).toList(),
                target(meters.slo()),
                meters.served(),
                meters.called());
    }

    private static Server server(RpcServer server, RpcServerLifecycle lifecycle) {
        List<Service> services = server.exports().stream()
                .map(export -> new Service(export.key().toString(), export.weight()))
                .toList();
        return new Server(lifecycle.isRunning(), lifecycle.port(), server.connections(), services);
    }

    private static Reference reference(RpcClient.Reference reference) {
        return new Reference(
                reference.service().toString(),
                reference.providers().stream().map(RpcReport::address).toList());
    }

    private static Address address(Provider provider) {
        ClientConnection connection = provider.connection();
        State state = connection.isAvailable()
                ? State.CONNECTED
                : connection.isConnecting() ? State.CONNECTING : State.UNREACHABLE;
        return new Address(
                connection.endpoint().toString(),
                provider.attributes().weight(),
                state,
                connection.inFlight(),
                state == State.CONNECTED ? "" : connection.lastFailure());
    }

    private static Target target(Slo slo) {
        return new Target(slo.qps(), slo.latency().toNanos() / 1e6);
    }
}
