package tern.rpc.netty;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import tern.rpc.health.HealthService;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ServerTransport;

/** A server that accepts only a few connections, and its clients, for tests of the connection limit. */
abstract class ConnectionLimitFixture {

    static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    public interface Work {
        String hold(String name);

        String quick(String name);
    }

    private final EventLoops loops = EventLoops.start(2);
    final AtomicLong later = new AtomicLong();
    final Semaphore holding = new Semaphore(0);
    final Semaphore release = new Semaphore(0);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    final List<AutoCloseable> closing = new ArrayList<>();

    @Nullable
    NettyServerTransport port;

    int serve(int connections, int perHost) {
        return serve(connections, perHost, DescriptorLimit.UNKNOWN);
    }

    int serve(int connections, int perHost, long descriptors) {
        port = new NettyServerTransport(
                ServerTransportSettings.onPort(0)
                        .withMaxConnections(connections, perHost)
                        .withIdleTimeout(Duration.ofHours(1))
                        .withFirstBytesTimeout(Duration.ofHours(1)),
                loops,
                new AllProtocols().ofServer(),
                () -> System.nanoTime() + later.get(),
                descriptors);
        ServerTransport transport = ResourceLedger.watch(port);
        RpcServer server = RpcServer.builder(transport)
                .export(ServiceExport.of(Work.class, new Work() {
                    @Override
                    public String hold(String name) {
                        holding.release();
                        release.acquireUninterruptibly();
                        return name;
                    }

                    @Override
                    public String quick(String name) {
                        return name;
                    }
                }))
                .export(new HealthService().export())
                .meters(new RpcMeters(registry, Slo.DEFAULT))
                .build();
        closing.add(server);
        server.start();
        return server.port();
    }

    @AfterEach
    void close() throws Exception {
        release.release(1_000);
        for (int i = closing.size() - 1; i >= 0; i--) {
            closing.get(i).close();
        }
        loops.close();
    }

    RawSocket connect(int port, int host, int count) {
        RawSocket made = RawSocket.connect(port, host);
        closing.add(made);
        Await.until("it is known", () -> connections() == count);
        return made;
    }

    double connections() {
        return registry.get(RpcMeter.SERVER_CONNECTIONS.key()).gauge().value();
    }

    static byte[] request(String method) {
        return ("POST /" + Work.class.getName() + "/" + method
                        + " HTTP/1.1\r\n"
                        + "host: localhost\r\n"
                        + "content-type: application/json\r\n"
                        + "content-length: 3\r\n\r\n"
                        + "\"a\"")
                .getBytes(US_ASCII);
    }

    static boolean isServed(RawSocket socket) {
        StringBuilder answer = new StringBuilder();
        socket.send(request("quick"));
        while (answer.indexOf("\r\n\r\n\"a\"") < 0) {
            answer.append((char) socket.readFully(1)[0]);
        }
        return answer.indexOf("HTTP/1.1 200") == 0;
    }
}
