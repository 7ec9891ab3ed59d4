package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Uses sockets to test that a tenant whose calls occupy all threads of the server does not block other tenants.
 * Clients at 127.0.0.1 occupy the threads, and all calls from a second address must be answered.
 */
class SlowTenantsSocketTest {

    private static final int THREADS = 40;
    private static final int QUEUE = 80;
    private static final int GOOD_CALLS = 60;

    public interface Slow {

        CompletableFuture<String> hold(String name);

        @RpcMethod(oneWay = true)
        void holdUnanswered(String name);

        String quick(String name);
    }

    /** A streaming service whose methods the tests call. */
    public interface SlowStreams {

        void hold(String name, StreamObserver<String> answers);
    }

    private static final class Gate {

        private final Semaphore held = new Semaphore(0);
        private final Semaphore release = new Semaphore(0);

        private void block() {
            held.release();
            release.acquireUninterruptibly();
        }
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Gate service = new Gate();
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final List<AutoCloseable> open = new ArrayList<>();
    private int port;

    @BeforeEach
    void serve() {
        RpcServer server = RpcServer.builder(ResourceLedger.watch(
                        new NettyServerTransport(ServerTransportSettings.onPort(0), loops, protocols.ofServer())))
                .export(ServiceExport.of(Slow.class, new Slow() {
                    @Override
                    public CompletableFuture<String> hold(String name) {
                        service.block();
                        return CompletableFuture.completedFuture(name);
                    }

                    @Override
                    public void holdUnanswered(String name) {
                        service.block();
                    }

                    @Override
                    public String quick(String name) {
                        return name;
                    }
                }))
                .export(ServiceExport.of(SlowStreams.class, (name, answers) -> {
                    service.block();
                    answers.onCompleted();
                }))
                .workers(THREADS, QUEUE)
                .meters(new RpcMeters(registry, Slo.DEFAULT))
                .build();
        open.add(server);
        server.start();
        port = server.port();
    }

    @AfterEach
    void stop() throws Exception {
        service.release.release(1_000_000);
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        Await.until("no call is left", () -> inside() == 0);
        callers.shutdownNow();
        loops.close();
    }

    private double inside() {
        return registry.get(RpcMeter.SERVER_CONCURRENCY.key()).gauge().value();
    }

    private Slow client(String protocol) {
        return client(Slow.class, protocol);
    }

    private <T> T client(Class<T> type, String protocol) {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("slow"), loops, protocols.ofClient(protocol)))
                .timeout(Duration.ofMinutes(5))
                .build();
        open.add(client);
        return client.refer(ServiceReference.to(type, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", port))))
                .protocol(protocol)
                .build());
    }

    private void awaitAllThreadsHeld() {
        Await.until("all threads are held", () -> service.held.availablePermits() >= THREADS);
    }

    private static byte[] request(String method) {
        String path = Slow.class.getName() + "/" + method;
        return ("POST /" + path
                        + " HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n"
                        + "\"a\"")
                .getBytes(StandardCharsets.US_ASCII);
    }

    private String answer(RawSocket socket) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) socket.readFully(1)[0]);
        }
        String fields = head.toString().toLowerCase(java.util.Locale.ROOT);
        int at = fields.indexOf("content-length: ") + "content-length: ".length();
        int length = Integer.parseInt(fields.substring(at, fields.indexOf("\r\n", at)));
        return head.substring(9, 12) + " " + new String(socket.readFully(length), StandardCharsets.UTF_8);
    }

    private void allCallsOfAnotherAddressSucceed() {
        for (int i = 0; i < 2; i++) {
            try (RawSocket good = RawSocket.connect(port, 9)) {
                for (int j = 0; j < GOOD_CALLS / 2; j++) {
                    assertThat(answer(good.send(request("quick")))).isEqualTo("200 \"a\"");
                }
            }
        }
    }

    /** Opens a connection from a second address. From then on, the server treats each address as a separate tenant. */
    private RawSocket another() {
        RawSocket quiet = RawSocket.connect(port, 9);
        open.add(quiet);
        assertThat(answer(quiet.send(request("quick")))).startsWith("200");
        return quiet;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void callsThatHoldTheirThreadsDoNotStopOthers(String protocol) {
        Slow flooding = client(protocol);
        for (int i = 0; i < 3 * THREADS; i++) {
            flooding.hold("a").isDone();
        }
        awaitAllThreadsHeld();

        allCallsOfAnotherAddressSucceed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void oneWayCallsOfOneConnectionDoNotStopOthers(String protocol) {
        Slow flooding = client(protocol);
        for (int i = 0; i < 3 * THREADS; i++) {
            flooding.holdUnanswered("a");
        }
        awaitAllThreadsHeld();

        allCallsOfAnotherAddressSucceed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void oneWayCallsOfTwentyConnectionsDoNotStopOthers(String protocol) {
        for (int i = 0; i < 20; i++) {
            Slow flooding = client(protocol);
            for (int j = 0; j < 5; j++) {
                flooding.holdUnanswered("a");
            }
        }
        awaitAllThreadsHeld();

        allCallsOfAnotherAddressSucceed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void callsThatAreResetWhileTheyRunDoNotStopOthers(String protocol) {
        Slow flooding = client(protocol);
        for (int i = 0; i < THREADS; i++) {
            CompletableFuture<String> call = flooding.hold("a");
            int running = i + 1;
            Await.until("it runs", () -> service.held.availablePermits() >= running);
            call.cancel(true);
        }
        callers.submit(() -> flooding.hold("more").isDone());

        allCallsOfAnotherAddressSucceed();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void callsWithShortDeadlinesDoNotStopOthers(String protocol) {
        Slow flooding = CallOptions.none().timeout(Duration.ofMillis(30)).on(client(protocol));
        List<CompletableFuture<String>> calls = new ArrayList<>();
        for (int i = 0; i < 2 * THREADS; i++) {
            calls.add(flooding.hold("a"));
        }
        Await.until("all have failed", () -> calls.stream().allMatch(CompletableFuture::isCompletedExceptionally));
        Await.until("all threads are held", () -> {
            // many calls fail at their deadline before their method begins, so this loop makes more calls until all
            // threads are occupied
            flooding.hold("a").isDone();
            return service.held.availablePermits() >= THREADS;
        });

        allCallsOfAnotherAddressSucceed();
    }

    @Test
    void streamsWithMethodsThatDoNotReturnDoNotStopOthers() {
        SlowStreams flooding = client(SlowStreams.class, "tri");
        for (int i = 0; i < 3 * THREADS; i++) {
            flooding.hold("a", new StreamObserver<>() {
                @Override
                public void onNext(String value) {}

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {}
            });
        }
        awaitAllThreadsHeld();

        allCallsOfAnotherAddressSucceed();
    }

    @Test
    void connectionsThatCloseWhileTheirCallRunsDoNotStopOthers() {
        another();
        for (int i = 0; i < THREADS; i++) {
            try (RawSocket each = RawSocket.connect(port, 3)) {
                each.send(request("hold"));
                int running = i + 1;
                Await.until("it runs", () -> service.held.availablePermits() >= running);
            }
        }
        Await.until("their connections are closed", () -> connections() <= 1);
        try (RawSocket next = RawSocket.connect(port, 3)) {
            next.send(request("hold"));

            allCallsOfAnotherAddressSucceed();

            assertThat(service.held.availablePermits()).as("methods begun").isEqualTo(THREADS);
        }
    }

    private double connections() {
        return registry.get(RpcMeter.SERVER_CONNECTIONS.key()).gauge().value();
    }

    @Test
    void callsOfSeveralAddressesDoNotStopOthers() {
        for (int i = 0; i < 2 * THREADS; i++) {
            RawSocket each = RawSocket.connect(port, 20 + i % 8);
            open.add(each);
            each.send(request("hold"));
            // each call must begin before the next call is sent, because the last calls from a tenant can run on spare
            // threads
            int running = Math.min(i + 1, THREADS);
            Await.until("it runs", () -> service.held.availablePermits() >= running);
        }
        awaitAllThreadsHeld();

        allCallsOfAnotherAddressSucceed();
    }

    @Test
    void refusalsNameTheAddressThatFloods() {
        another();
        Slow flooding = client("dubbo");
        List<String> refusals = new ArrayList<>();
        for (int i = 0; i < 2 * THREADS; i++) {
            flooding.hold("a").whenComplete((value, failure) -> {
                if (failure != null) {
                    synchronized (refusals) {
                        refusals.add(failure.getMessage());
                    }
                }
            });
        }
        awaitAllThreadsHeld();
        Await.until("calls waited in vain", () -> {
            synchronized (refusals) {
                return refusals.stream().anyMatch(each -> each.contains("rpc.server.max-queue-wait"));
            }
        });
        allCallsOfAnotherAddressSucceed();
        flooding.hold("one more").isDone();

        Await.until("the flood is named", () -> {
            synchronized (refusals) {
                return refusals.stream().anyMatch(each -> each.contains("127.0.0.1 holds "));
            }
        });
    }
}
