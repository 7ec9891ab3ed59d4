package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.DubboPeer;
import tern.rpc.server.ServiceExport;

/**
 * Tests Tern's calls while a Dubbo provider is shutting down its Triple server. This test is in a separate class,
 * because Dubbo stops all Triple servers in the process when one provider shuts down.
 */
@Timeout(120)
class TripleShutdownOfDubboTest {

    /** A service implementation whose {@code echo} method returns the given name. */
    private static final class Named extends GreetServer {
        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String echo(String s) {
            return name;
        }
    }

    /**
     * Dubbo closes its connections without a GOAWAY frame (docs/wire-protocol.md 3.11), so one or two calls might be
     * lost.
     */
    @Test
    void callsMoveToAnotherProviderWhenDubboShutsDown() throws Exception {
        try (TripleSides sides = new TripleSides();
                DubboPeer leaving = new DubboPeer("leaving", "tri");
                RpcClient client = RpcClient.builder()
                        .transport(new NettyClientTransport(
                                ClientTransportSettings.named("shutdown"),
                                sides.loops(),
                                new TripleClientProtocol(sides.codecs())))
                        .timeout(Duration.ofSeconds(20))
                        .build()) {
            leaving.provide(GreetService.class, new Named("leaving"), "g2", "2");
            int staying = sides.serve(
                            limits -> limits,
                            settings -> settings.export(
                                    ServiceExport.of(GreetService.class, new Named("staying"), "g2", "2")))
                    .port();
            GreetService service = client.refer(ServiceReference.to(
                            GreetService.class,
                            new StaticEndpoints(List.of(leaving.endpoint(), new Endpoint("127.0.0.1", staying))))
                    .protocol(TripleClientProtocol.NAME)
                    .group("g2")
                    .version("2")
                    .build());
            Await.until("the one is called", () -> service.echo("x").equals("leaving"));
            Await.until("the other is called", () -> service.echo("x").equals("staying"));

            leaving.close();

            Await.until("calls arrive", () -> arrives(service));
            assertThat(Stream.generate(() -> service.echo("x")).limit(20)).containsOnly("staying");
        }
    }

    private static boolean arrives(GreetService service) {
        try {
            return Stream.generate(() -> service.echo("x")).limit(6).allMatch("staying"::equals);
        } catch (RpcException lost) {
            return false;
        }
    }
}
