package tern.rpc.transport;

import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Timeout;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** The base class for the tests of transports. Every transport must pass these tests. */
@Timeout(60)
public abstract class TransportContractTest extends TransportTest
        implements TransportValuesContract, TransportCallsContract, TransportFiltersContract {

    protected final ContractServer service = new ContractServer();

    @Override
    public ContractServer service() {
        return service;
    }

    @Override
    public boolean carriesExceptions() {
        return true;
    }

    @Override
    protected void letGo() {
        service.letGo.countDown();
    }

    @Override
    public Endpoint serverEndpoint() {
        return endpoint();
    }

    @Override
    public RpcServer serve(Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder =
                RpcServer.builder(transport().newServer()).export(ServiceExport.of(ContractService.class, service));
        settings.accept(builder);
        RpcServer server = builder.build();
        closeLater(server);
        server.start();
        return server;
    }

    @Override
    public void serveOnly(ServiceExport export) {
        RpcServer server =
                RpcServer.builder(transport().newServer()).export(export).build();
        closeLater(server);
        server.start();
    }

    @Override
    public ContractService refer(
            Consumer<RpcClient.Builder> client, Consumer<ServiceReference.Builder<ContractService>> reference) {
        ClientTransport transport = transport().newClient();
        RpcClient.Builder builder = RpcClient.builder().transport(transport).timeout(LONG);
        client.accept(builder);
        ServiceReference.Builder<ContractService> to = ServiceReference.to(
                        ContractService.class, new StaticEndpoints(List.of(endpoint())))
                .protocol(transport.protocol());
        reference.accept(to);
        RpcClient made = builder.build();
        closeLater(made);
        return made.refer(to.build());
    }

    @Override
    public ContractService proxy() {
        serve(settings -> {});
        return refer(client -> {}, reference -> {});
    }
}
