package tern.rpc.netty.streams;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;

/** Tests stream callbacks that wait for other streams from the same server. */
@Timeout(120)
class NestedStreamsTest {

    /** A service whose streams call the service itself. */
    interface Steps {

        /** Answers each number with its distance from 0. To count this distance, the method opens nested streams. */
        Flux<Integer> count(Flux<Integer> numbers);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tri", "local"})
    void streamsThatWaitForStreamsOfTheSameServerEnd(String protocol) {
        AllProtocols protocols = new AllProtocols();
        AtomicReference<Steps> itself = new AtomicReference<>();
        Steps service = numbers -> numbers.map(number ->
                number == 0 ? 0 : 1 + itself.get().count(Flux.just(number - 1)).blockLast());
        InMemoryTransport memory = new InMemoryTransport(new JdkSerializer());
        try (EventLoops loops = EventLoops.start(1);
                RpcServer server = RpcServer.builder(new NettyServerTransport(
                                ServerTransportSettings.onPort(0), loops, protocols.ofServer()))
                        .workers(2, 10)
                        .limit(() -> new FixedLimit(100))
                        .maxQueueWait(Duration.ofSeconds(30))
                        .export(ServiceExport.of(Steps.class, service))
                        .build()) {
            server.start();
            server.serve(memory);
            try (RpcClient client = RpcClient.builder()
                    .transport(new NettyClientTransport(
                            ClientTransportSettings.named("steps"), loops, protocols.ofClient("tri")))
                    .transport(memory)
                    .build()) {
                Endpoint endpoint =
                        protocol.equals("tri") ? new Endpoint("127.0.0.1", server.port()) : new Endpoint("memory", 0);
                itself.set(client.refer(ServiceReference.to(Steps.class, new StaticEndpoints(List.of(endpoint)))
                        .protocol(protocol)
                        .build()));

                // the server has two threads for callbacks, and uses two additional threads while these threads are
                // blocked
                assertThat(itself.get().count(Flux.just(3)).blockLast()).isEqualTo(3);
            }
        }
    }
}
