package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.peer.Await;
import tern.rpc.server.RpcServer;

/** Tests the memory budget for HTTP requests that are incomplete or are waiting for a worker. */
class InboundBudgetHttpTest {

    private static final int MESSAGE = 512 << 10;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void manyLargeCallsBeyondTheBudgetAllSucceed(boolean http2) throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        try (TripleSides sides = new TripleSides()) {
            RpcServer server = sides.serve(
                    limits -> limits.withMaxMessageBytes(MESSAGE)
                            .withFirstBytesTimeout(Duration.ofSeconds(30))
                            .withMaxInboundBytes(2 * MESSAGE),
                    settings -> settings.meters(new RpcMeters(registry, Slo.DEFAULT)));
            ClientProtocol protocol =
                    http2 ? new TripleClientProtocol(sides.codecs()) : new Http1ClientProtocol(sides.codecs());
            NettyClientTransport transport =
                    new NettyClientTransport(ClientTransportSettings.named("large"), sides.loops(), protocol);
            try (RpcClient client = RpcClient.builder()
                    .transport(transport)
                    .timeout(Duration.ofSeconds(60))
                    .build()) {
                GreetService greet = client.refer(ServiceReference.to(
                                GreetService.class,
                                new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                        .protocol(transport.protocol())
                        .build());
                String text = "t".repeat(300 << 10);
                List<CompletableFuture<String>> calls = IntStream.range(0, 40)
                        .mapToObj(i ->
                                CompletableFuture.supplyAsync(() -> greet.echo(text), task -> new Thread(task).start()))
                        .toList();

                for (CompletableFuture<String> call : calls) {
                    assertThat(call.get(60, TimeUnit.SECONDS)).hasSameSizeAs(text);
                }
            }
            Await.until(
                    "all memory is released",
                    () -> registry.get(RpcMeter.SERVER_INBOUND.key()).gauge().value() == 0);
        }
    }
}
