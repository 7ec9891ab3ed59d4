package tern.rpc.transport;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** The server, the client and the service for the transport tests. */
interface TransportContract {

    Duration LONG = Duration.ofSeconds(20);

    ContractServer service();

    /**
     * Returns whether the tested transport preserves exception types; plain JSON transmits only a status code and a
     * message.
     */
    boolean carriesExceptions();

    /** Starts a server that exports the service. */
    RpcServer serve(Consumer<RpcServer.Builder> settings);

    /** Starts a server that exports a different service than the one under test. */
    void serveOnly(ServiceExport export);

    /** Returns the address of the most recently started server. */
    Endpoint serverEndpoint();

    /** Returns a proxy that calls the most recently started server. */
    ContractService refer(
            Consumer<RpcClient.Builder> client, Consumer<ServiceReference.Builder<ContractService>> reference);

    /** Starts a server and returns a proxy that calls it. */
    ContractService proxy();

    <T> Future<T> inBackground(Callable<T> call);
}
