package tern.rpc.netty.peer;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.ServerTransport;

/** Creates the transports of a contract test over one protocol, with event loops that all tests of a class share. */
public final class ContractTransports implements AutoCloseable {

    private final EventLoops loops = EventLoops.start(2);
    private final ServerProtocol server;
    private final ClientProtocol client;
    private @Nullable ServerTransport last;

    public ContractTransports(ServerProtocol server, ClientProtocol client) {
        this.server = server;
        this.client = client;
    }

    /** Creates a server on a free port. */
    public ServerTransport newServer() {
        last = ResourceLedger.watch(
                new NettyServerTransport(ServerTransportSettings.onPort(0), loops, List.of(server)));
        return last;
    }

    public ClientTransport newClient() {
        return new NettyClientTransport(ClientTransportSettings.named("contract"), loops, client);
    }

    /** Returns the endpoint of the server that was created last. */
    public Endpoint endpoint() {
        return new Endpoint("127.0.0.1", Objects.requireNonNull(last).port());
    }

    @Override
    public void close() {
        loops.close();
    }
}
