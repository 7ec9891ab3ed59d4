package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests that unread answers on many connections do not exhaust a server's memory. */
@Timeout(120)
class UnreadDubboAnswersTest {

    private static final RawFrame ECHO = Fixtures.frame("dubbo/echo.request.bin");
    private static final int CONNECTIONS = 40;
    private static final int CALLS = 20;

    /**
     * The number of unread bytes above which the server closes any connection. The number is four times {@code
     * max-unsent-answers}.
     */
    private static final long MAX_BYTES = 8 << 20;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final AtomicLong mostUnsent = new AtomicLong();
    private final AtomicInteger called = new AtomicInteger();
    private volatile boolean large = true;

    private double unsent() {
        return registry.get(RpcMeter.SERVER_UNSENT.key()).gauge().value();
    }

    private Object answer() {
        called.incrementAndGet();
        mostUnsent.accumulateAndGet((long) unsent(), Math::max);
        return large ? "x".repeat(512 << 10) : "x";
    }

    @Test
    void connectionsThatDoNotReadAreClosed() {
        List<RawSocket> sockets = new ArrayList<>();
        try (Sides sides = new Sides();
                EventLoops loops = EventLoops.start(2);
                RpcServer server = serve(sides, loops)) {
            for (int i = 0; i < CONNECTIONS; i++) {
                RawSocket socket = RawSocket.connect(server.port());
                sockets.add(socket);
                for (int call = 0; call < CALLS; call++) {
                    socket.send(ECHO.withId(call + 1));
                }
            }
            Await.until("much was asked for", () -> called.get() > 60);
            Await.until("what is not read is given up", () -> unsent() <= MAX_BYTES / 2.0);

            large = false;
            try (RawSocket good = RawSocket.connect(server.port(), 9)) {
                // The server may refuse calls until it has closed the connections of the other clients, because the
                // answers on these connections occupy memory until then.
                for (int call = 0; call < CALLS; call++) {
                    Await.until(
                            "a call is answered", () -> good.send(ECHO).read().status() == 20);
                }
            }
            assertThat(mostUnsent.get()).isBetween(MAX_BYTES / 2, 4 * MAX_BYTES);
            sockets.forEach(RawSocket::close);
            Await.until("nothing is kept for anybody", () -> unsent() == 0);
        } finally {
            sockets.forEach(RawSocket::close);
        }
    }

    private RpcServer serve(Sides sides, EventLoops loops) {
        GreetService service = (GreetService) Proxy.newProxyInstance(
                GreetService.class.getClassLoader(),
                new Class<?>[] {GreetService.class},
                (proxy, method, arguments) -> method.getDeclaringClass() == Object.class ? 1 : answer());
        RpcServer server = RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(0).withMaxUnsentBytes(1 << 20, MAX_BYTES / 4),
                        loops,
                        List.of(sides.protocol())))
                .workers(4, 1_000)
                .maxQueueWait(Duration.ofSeconds(10))
                .meters(new RpcMeters(registry, Slo.DEFAULT))
                .export(ServiceExport.of(GreetService.class, service))
                .build();
        server.start();
        return server;
    }
}
