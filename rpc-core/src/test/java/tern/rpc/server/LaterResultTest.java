package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.LaterResult;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;

/** Tests the results of asynchronous methods in the ledgers of their calls. */
@Timeout(60)
class LaterResultTest {

    interface LaterService {
        CompletableFuture<String> later();
    }

    @Test
    void ledgerOfAnAsynchronousCallKnowsItsCodeAndWhetherItsResultHasArrived() {
        CompletableFuture<String> promised = new CompletableFuture<>();
        LaterService service = () -> promised;
        InMemoryTransport transport = new InMemoryTransport(new JdkSerializer(), System::nanoTime);
        try (RpcServer server = RpcServer.builder(transport)
                        .export(ServiceExport.of(LaterService.class, service))
                        .ledger(true)
                        .build();
                RpcClient client = RpcClient.builder().transport(transport).build()) {
            server.start();
            CompletableFuture<String> answer = client.refer(ServiceReference.to(
                                    LaterService.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                            .protocol(InMemoryTransport.PROTOCOL)
                            .build())
                    .later();
            AtomicReference<LaterResult> result = new AtomicReference<>();
            while (result.get() == null) {
                server.runningCalls().forEach(call -> result.set(call.ledger().laterResult()));
                LockSupport.parkNanos(100_000);
            }

            assertThat(result.get().isComplete()).isFalse();
            assertThat(result.get().code()).isEqualTo(service.getClass());

            promised.complete("done");
            assertThat(answer.join()).isEqualTo("done");
            assertThat(result.get().isComplete()).isTrue();
        }
    }
}
