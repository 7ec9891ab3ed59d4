package tern.rpc.interop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import tern.rpc.health.HealthService;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.triple.Cors;
import tern.rpc.netty.triple.Http1Protocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.reflection.ReflectionService;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.json.JsonMapper;

/**
 * Provides the services of the public test suites, the health service and the reflection service on one port without
 * TLS. Runs until the process is stopped.
 *
 * <p>Usage: {@code InteropServer --port=N}; 0 chooses a free port. The server prints its port when it is ready.
 */
public final class InteropServer {

    private static final String PORT = "--port=";

    /** The origin of the web page whose script makes the browser suite's calls. */
    private static final String PAGE = "http://127.0.0.1:18099";

    private InteropServer() {}

    public static void main(String[] arguments) throws InterruptedException {
        if (arguments.length != 1 || !arguments[0].matches(PORT + "\\d{1,5}")) {
            System.err.println("Usage: InteropServer --port=N");
            System.exit(2);
        }
        RpcServer server = server(Integer.parseInt(arguments[0].substring(PORT.length())));
        server.start();
        System.out.println("InteropServer serves on port " + server.port());
        Thread.currentThread().join();
    }

    private static RpcServer server(int port) {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        TripleCodecs codecs = new TripleCodecs(
                HessianSerializer.builder().build(),
                new JsonCodec(JsonMapper.builder().build()),
                0);
        HttpSettings settings =
                new HttpSettings(new Cors(Set.of(PAGE), Set.of(), false, Duration.ofMinutes(10)), false, false);
        NettyServerTransport transport = new NettyServerTransport(
                ServerTransportSettings.onPort(port),
                EventLoops.start(2),
                List.of(new TripleProtocol(codecs, settings), new Http1Protocol(codecs, settings)));
        HealthService health = new HealthService();
        List<ServiceExport> exports = new ArrayList<>(List.of(
                ServiceExport.of(TestService.class, new InteropTestService(timer)),
                ServiceExport.of(ConformanceService.class, new InteropConformanceService(timer))));
        exports.forEach(health::add);
        exports.add(health.export());
        exports.addAll(ReflectionService.of(exports));
        RpcServer.Builder builder = RpcServer.builder(transport);
        exports.forEach(builder::export);
        return builder.build();
    }
}
