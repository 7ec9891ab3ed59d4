package tern.rpc.netty.peer;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
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
import tern.rpc.transport.TestedTransport;

/**
 * Creates the transports of a contract test over one protocol. All tests of a class share the event loops, so the class
 * registers this extension in a static field.
 */
public final class ContractTransports implements TestedTransport, AfterAllCallback {

    private final EventLoops loops = EventLoops.start(2);
    private final ServerTransportSettings serverSettings;
    private final ServerProtocol server;
    private final ClientTransportSettings clientSettings;
    private final ClientProtocol client;
    private @Nullable ServerTransport last;

    public ContractTransports(ServerProtocol server, ClientProtocol client) {
        this(ServerTransportSettings.onPort(0), server, ClientTransportSettings.named("contract"), client);
    }

    public ContractTransports(
            ServerTransportSettings serverSettings,
            ServerProtocol server,
            ClientTransportSettings clientSettings,
            ClientProtocol client) {
        this.serverSettings = serverSettings;
        this.server = server;
        this.clientSettings = clientSettings;
        this.client = client;
    }

    /** Creates a server on a free port. */
    @Override
    public ServerTransport newServer() {
        last = ResourceLedger.watch(new NettyServerTransport(serverSettings, loops, List.of(server)));
        return last;
    }

    @Override
    public ClientTransport newClient() {
        return new NettyClientTransport(clientSettings, loops, client);
    }

    @Override
    public Endpoint endpoint() {
        return new Endpoint("127.0.0.1", Objects.requireNonNull(last).port());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        loops.close();
    }
}
