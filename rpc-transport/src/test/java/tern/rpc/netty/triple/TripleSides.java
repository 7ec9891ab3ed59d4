package tern.rpc.netty.triple;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import com.example.wire.PbServer;
import com.example.wire.PbService;
import com.example.wire.StreamServer;
import com.example.wire.StreamService;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerProtocol;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.GenericException;
import tools.jackson.databind.json.JsonMapper;

/** Triple servers for tests. The servers are closed in reverse order. */
final class TripleSides implements AutoCloseable {

    private final EventLoops loops = EventLoops.start(2);
    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder()
                    .alias(GenericException.class, GenericException.WIRE_NAME)
                    .build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private final List<AutoCloseable> open = new ArrayList<>();

    TripleCodecs codecs() {
        return codecs;
    }

    EventLoops loops() {
        return loops;
    }

    List<ServerProtocol> protocols() {
        return protocols(HttpSettings.defaults());
    }

    private List<ServerProtocol> protocols(HttpSettings http) {
        return List.of(new TripleProtocol(codecs, http), new Http1Protocol(codecs, http));
    }

    /**
     * Starts a server that exports the captured services. The server also exports the first service with group
     * {@code g1} and version 1.2.3.
     */
    RpcServer serve(UnaryOperator<ServerTransportSettings> limits, Consumer<RpcServer.Builder> settings) {
        GreetServer greet = new GreetServer();
        return serve(limits.apply(ServerTransportSettings.onPort(0)), HttpSettings.defaults(), builder -> {
            builder.export(ServiceExport.of(GreetService.class, greet))
                    .export(ServiceExport.of(GreetService.class, greet, "g1", "1.2.3"))
                    .export(ServiceExport.of(StreamService.class, new StreamServer()))
                    .export(ServiceExport.of(PbService.class, new PbServer()));
            settings.accept(builder);
        });
    }

    /** Starts a server with the given settings. */
    RpcServer serve(ServerTransportSettings limits, HttpSettings http, Consumer<RpcServer.Builder> settings) {
        RpcServer.Builder builder = RpcServer.builder(
                        ResourceLedger.watch(new NettyServerTransport(limits, loops, protocols(http))))
                .maxQueueWait(Duration.ofSeconds(10));
        settings.accept(builder);
        RpcServer server = builder.build();
        open.add(server);
        server.start();
        return server;
    }

    @Override
    public void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
    }
}
