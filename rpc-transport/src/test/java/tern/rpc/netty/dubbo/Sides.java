package tern.rpc.netty.dubbo;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.GenericException;
import tern.rpc.transport.ServerTransport;

/** Clients and servers of the dubbo protocol for tests. The resources are closed in reverse order. */
final class Sides implements AutoCloseable {

    private static final Duration LONG = Duration.ofSeconds(20);

    private final EventLoops loops = EventLoops.start(2);
    private final DubboProtocol protocol = new DubboProtocol(
            HessianSerializer.builder()
                    .alias(GenericException.class, GenericException.WIRE_NAME)
                    .build(),
            0);
    private final List<AutoCloseable> open = new ArrayList<>();
    final GreetServer service = new GreetServer();

    DubboProtocol protocol() {
        return protocol;
    }

    /**
     * Starts a server that exports the captured service twice: without a group or version, and with group {@code g1}
     * and version 1.2.3.
     */
    RpcServer serve(UnaryOperator<ServerTransportSettings> limits, Consumer<RpcServer.Builder> settings) {
        ServerTransport transport = ResourceLedger.watch(
                new NettyServerTransport(limits.apply(ServerTransportSettings.onPort(0)), loops, List.of(protocol)));
        RpcServer.Builder builder = RpcServer.builder(transport)
                .export(ServiceExport.of(GreetService.class, service))
                .export(ServiceExport.of(GreetService.class, service, "g1", "1.2.3"))
                .maxQueueWait(Duration.ofSeconds(10));
        settings.accept(builder);
        RpcServer server = builder.build();
        open.add(server);
        server.start();
        return server;
    }

    RpcServer serve() {
        return serve(limits -> limits, settings -> {});
    }

    RpcClient client(UnaryOperator<ClientTransportSettings> limits) {
        return client(limits, settings -> {});
    }

    RpcClient client(UnaryOperator<ClientTransportSettings> limits, Consumer<RpcClient.Builder> settings) {
        RpcClient.Builder builder = RpcClient.builder()
                .transport(new NettyClientTransport(
                        limits.apply(ClientTransportSettings.named("wire-consumer")), loops, protocol))
                .timeout(LONG);
        settings.accept(builder);
        RpcClient client = builder.build();
        open.add(client);
        return client;
    }

    static GreetService refer(
            RpcClient client, Consumer<ServiceReference.Builder<GreetService>> settings, Endpoint... endpoints) {
        return refer(GreetService.class, client, settings, endpoints);
    }

    static <T> T refer(
            Class<T> type, RpcClient client, Consumer<ServiceReference.Builder<T>> settings, Endpoint... endpoints) {
        ServiceReference.Builder<T> reference = ServiceReference.to(type, new StaticEndpoints(List.of(endpoints)));
        settings.accept(reference);
        return client.refer(reference.build());
    }

    GreetService refer(Endpoint... endpoints) {
        return refer(client(limits -> limits), reference -> {}, endpoints);
    }

    void closeClients() {
        open.stream().filter(RpcClient.class::isInstance).forEach(client -> ((RpcClient) client).close());
    }

    @Override
    public void close() {
        try {
            for (int i = open.size() - 1; i >= 0; i--) {
                open.get(i).close();
            }
        } catch (Exception e) {
            throw new AssertionError(e);
        } finally {
            loops.close();
        }
    }
}
