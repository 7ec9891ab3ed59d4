package tern.rpc.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;

/** Threads that really wait in Tern's client and server. */
@Timeout(60)
class OurOwnCallsTest {

    interface Stock {
        int pieces();

        CompletionStage<Integer> piecesLater();
    }

    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
    private final RpcServer server = RpcServer.builder(transport)
            .export(ServiceExport.of(Stock.class, new Stock() {
                @Override
                public int pieces() {
                    entered.countDown();
                    new shop.Shelf().awaitOpening(released);
                    return 1;
                }

                @Override
                public CompletionStage<Integer> piecesLater() {
                    return new CompletableFuture<>();
                }
            }))
            .build();

    @AfterEach
    void close() {
        released.countDown();
        server.close();
    }

    private Stock stock(RpcClient client) {
        server.start();
        return client.refer(ServiceReference.to(Stock.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    private RpcClient client(boolean filtered) {
        RpcClient.Builder builder = RpcClient.builder().transport(transport).timeout(Duration.ofMinutes(1));
        return filtered ? builder.filter((call, next) -> next.invoke(call)).build() : builder.build();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void callerWaitsForTheOtherService(boolean filtered) {
        try (RpcClient client = client(filtered)) {
            Stock stock = stock(client);

            try (Blocked blocked = new Blocked(stock::pieces)) {
                assertThat(blocked.waitsFor("RPC: answer of another service").change())
                        .startsWith("rpc.client.timeout");
            }
        }
    }

    @Test
    void callerWaitsForAFutureOfTheOtherService() {
        try (RpcClient client = client(false)) {
            Stock stock = stock(client);

            try (Blocked blocked =
                    new Blocked(() -> stock.piecesLater().toCompletableFuture().get())) {
                assertThat(blocked.wait(false).resource()).isEqualTo("RPC: answer of another service");
            }
        }
    }

    @Test
    void reportNamesWhatAServedCallWaitsFor() throws InterruptedException {
        try (RpcClient client = client(false)) {
            Stock stock = stock(client);

            try (Blocked caller = new Blocked(stock::pieces)) {
                entered.await();
                Blocked.eventually(() -> {
                    WaitingReport report = WaitingReport.of(
                            new VitalsReader().read(),
                            ThreadDump.take(server.runningCalls()),
                            server.runningCalls(),
                            List.of(),
                            BuiltInClassifiers.all());

                    assertThat(report.calls()).isOne();
                    assertThat(report.rows())
                            .filteredOn(row -> row.resource().contains("shop.Shelf"))
                            .singleElement()
                            .satisfies(row -> {
                                assertThat(row.resource())
                                        .isEqualTo("signal or result awaited in shop.Shelf.awaitOpening");
                                assertThat(row.threads()).isOne();
                                assertThat(row.longest()).isPositive();
                            });
                });
            }
        }
    }

    @Test
    void workersWithoutWorkAreIdle() {
        try (RpcClient client = client(false)) {
            released.countDown();
            stock(client).pieces();

            assertThat(Blocked.classifyThread("rpc-worker-1")).isEqualTo(Wait.IDLE);
        }
    }
}
