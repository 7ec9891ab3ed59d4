package tern.rpc.transport;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** The base class for the tests of transports with streams. Every such transport must pass these tests. */
@Timeout(60)
public abstract class StreamContractTest extends TransportTest
        implements StreamMessagesContract,
                StreamFailuresContract,
                StreamEndsContract,
                StreamFlowContract,
                StreamSurroundingsContract {

    private final StreamServer service = new StreamServer();
    private final CountDownLatch letGo = new CountDownLatch(1);
    private @Nullable ServerTransport serverTransport;

    @Override
    protected void letGo() {
        letGo.countDown();
    }

    @Override
    public CountDownLatch letGoLatch() {
        return letGo;
    }

    @Override
    public StreamServer service() {
        return service;
    }

    @Override
    public RpcServer serve(Consumer<RpcServer.Builder> settings) {
        ServerTransport transport = transport().newServer();
        serverTransport = transport;
        RpcServer.Builder builder = RpcServer.builder(transport).export(ServiceExport.of(StreamService.class, service));
        settings.accept(builder);
        RpcServer server = builder.build();
        closeLater(server);
        server.start();
        return server;
    }

    @Override
    public StreamService refer(Consumer<RpcClient.Builder> settings) {
        ClientTransport transport = transport().newClient();
        RpcClient.Builder builder = RpcClient.builder().transport(transport).timeout(LONG);
        settings.accept(builder);
        RpcClient client = builder.build();
        closeLater(client);
        return client.refer(ServiceReference.to(StreamService.class, new StaticEndpoints(List.of(endpoint())))
                .protocol(transport.protocol())
                .build());
    }

    @Override
    public StreamService proxy() {
        serve(settings -> {});
        return refer(client -> {});
    }

    @Override
    public int inFlight() {
        return Objects.requireNonNull(serverTransport).inFlight();
    }
}
