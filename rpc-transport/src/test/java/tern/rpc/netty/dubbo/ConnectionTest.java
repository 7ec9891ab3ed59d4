package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.ClientFilter;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientConnection;

/**
 * Tests the life cycle of connections: opening, loss, reopening, sharing, replacement and draining, and calls on a full
 * connection.
 */
@Timeout(60)
class ConnectionTest {

    private final Sides sides = new Sides();
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @AfterEach
    void close() {
        callers.shutdownNow();
        sides.close();
    }

    /** Returns client settings with short pauses between connection attempts. All other time limits are long. */
    private static ClientTransportSettings patient(ClientTransportSettings defaults) {
        return defaults.withConnectTimeout(Duration.ofSeconds(30))
                .withReconnect(Duration.ofMillis(20), Duration.ofMillis(100))
                .withHeartbeat(Duration.ofSeconds(60))
                .withProbe(Duration.ofSeconds(60), Duration.ofSeconds(60));
    }

    private <T> Future<T> inBackground(Callable<T> call) {
        return callers.submit(call);
    }

    private Future<RpcException> failing(Callable<?> call) {
        return inBackground(() -> catchThrowableOfType(RpcException.class, call::call));
    }

    private static <T> T get(Future<T> future) throws Exception {
        return future.get(30, TimeUnit.SECONDS);
    }

    /** Answers a request for the {@code echo} method with the string "hello". */
    private static void answer(RawSocket socket, RawFrame request) {
        socket.send(Fixtures.frame("dubbo/echo.response.bin").withId(request.id()));
    }

    private static ClientConnection only(RpcClient client) {
        assertThat(client.connections()).hasSize(1);
        return client.connections().get(0);
    }

    @Test
    void providerThatStartsLaterIsFound() {
        int port;
        try (RawServer free = RawServer.start()) {
            port = free.port();
        }
        RpcClient client = sides.client(ConnectionTest::patient);
        GreetService service = Sides.refer(client, reference -> {}, new Endpoint("127.0.0.1", port));
        Await.until("attempts failed", () -> !only(client).lastFailure().isEmpty());

        sides.serve(limits -> limits.withPort(port), settings -> {});

        Await.until("it is connected", () -> only(client).isAvailable());
        assertThat(service.echo("x")).isEqualTo("x");
        assertThat(only(client).lastFailure()).isEmpty();
    }

    @Test
    void callToAProviderThatIsDownFailsAsNotExecutedWithTheReason() throws IOException {
        try (Socket deaf = deaf()) {
            int port = deaf.getLocalPort();
            RpcClient client = sides.client(ConnectionTest::patient);
            GreetService service = Sides.refer(client, reference -> {}, new Endpoint("127.0.0.1", port));

            RpcException failure = catchThrowableOfType(RpcException.class, () -> service.echo("x"));

            assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining("127.0.0.1:" + port);
        }
    }

    /** Returns a socket that is bound but not listening, so that no other process can use the port. */
    private static Socket deaf() throws IOException {
        Socket deaf = new Socket();
        deaf.bind(new InetSocketAddress("127.0.0.1", 0));
        return deaf;
    }

    @Test
    void lostConnectionFailsPendingCallsAndTheNextCallWorks() throws Exception {
        try (RawServer server = RawServer.start()) {
            GreetService service =
                    Sides.refer(sides.client(ConnectionTest::patient), reference -> {}, server.endpoint());
            Future<RpcException> lost = failing(() -> service.echo("x"));
            RawSocket first = server.next();
            first.read();

            first.close();

            assertThat(get(lost).code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(get(lost).wasExecuted()).isEqualTo(Executed.MAYBE);
            RawSocket second = server.next().greet();
            Future<String> next = inBackground(() -> service.echo("x"));
            answer(second, second.read());
            assertThat(get(next)).isEqualTo("hello");
        }
    }

    @Test
    void idempotentCallIsSentAgainAfterALoss() throws Exception {
        try (RawServer server = RawServer.start()) {
            GreetService service = Sides.refer(
                    sides.client(ConnectionTest::patient),
                    reference -> reference.method("echo", new MethodSettings(null, true, null)),
                    server.endpoint());
            Future<String> call = inBackground(() -> service.echo("x"));
            RawSocket first = server.next();
            first.read();

            first.close();

            RawSocket second = server.next().greet();
            answer(second, second.read());
            assertThat(get(call)).isEqualTo("hello");
        }
    }

    /**
     * Tests a peer that still accepts connections although no server serves them. Load balancers accept connections
     * after their server has stopped, and Apache Dubbo accepts connections during its shutdown.
     */
    @Test
    void callSurvivesAConnectionThatIsAcceptedForAServerThatHasLeft() throws Exception {
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(ConnectionTest::patient);
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            server.next().send(RawFrame.readOnly(7));
            RawSocket refusing = server.next();
            Future<String> call = inBackground(() -> service.echo("x"));
            Await.until("it waits", () -> only(client).inFlight() == 1);
            RawFrame asked = refusing.read();
            assertThat(asked).isEqualTo(RawFrame.heartbeat(asked.id()));

            refusing.close();

            RawSocket back = server.next().greet();
            answer(back, back.read());
            assertThat(get(call)).isEqualTo("hello");
        }
    }

    @Test
    void callFailsAsNotExecutedWhereConnectionsAreOnlyAccepted() throws Exception {
        try (RawServer server = RawServer.start()) {
            RpcClient client =
                    sides.client(defaults -> patient(defaults).withReconnect(Duration.ofHours(1), Duration.ofHours(1)));
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            server.next().send(RawFrame.readOnly(7));
            RawSocket first = server.next();
            Future<RpcException> call = failing(() -> service.echo("x"));
            Await.until("it waits", () -> only(client).inFlight() == 1);

            // the server reads the heartbeat, because closing a socket with unread bytes would reset the connection
            first.read();
            first.close();
            RawSocket second = server.next();
            second.read();
            second.close();

            assertThat(get(call).code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(get(call).wasExecuted()).isEqualTo(Executed.NO);
            assertThat(get(call)).hasMessageContaining("the connection was closed by the server");
        }
    }

    @Test
    void silentReplacementIsClosedBeforeItTakesACall() throws Exception {
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(defaults -> patient(defaults).withConnectTimeout(Duration.ofMillis(50)));
            Sides.refer(client, reference -> {}, server.endpoint());
            server.next().close();
            RawSocket silent = server.next();
            RawFrame asked = silent.read();

            assertThat(asked).isEqualTo(RawFrame.heartbeat(asked.id()));
            assertThat(silent.isClosedByPeer()).isTrue();
            Await.until("the reason is told", () -> only(client).lastFailure().contains("sent nothing for 50 ms"));
        }
    }

    @Test
    void serverThatOnlyAcceptsAndClosesIsNotConnectedToWithoutAPause() {
        try (RawServer server = RawServer.start()) {
            RpcClient client =
                    sides.client(defaults -> patient(defaults).withReconnect(Duration.ofHours(1), Duration.ofHours(1)));
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());

            server.next().close();
            server.next().close();

            Await.until(
                    "it pauses",
                    () -> !only(client).isConnecting() && !only(client).isAvailable());
            assertThat(catchThrowableOfType(RpcException.class, () -> service.echo("x"))
                            .wasExecuted())
                    .isEqualTo(Executed.NO);
            assertThat(server.accepted())
                    .as("one more may have been begun by the call")
                    .isBetween(2, 3);
        }
    }

    @Test
    void configuredNumberOfSocketsIsOpened() {
        RpcServer server = sides.serve();
        RpcClient client = sides.client(ConnectionTest::patient);

        GreetService service =
                Sides.refer(client, reference -> reference.connections(3), new Endpoint("127.0.0.1", server.port()));

        Await.until("three are open", () -> server.connections() == 3);
        assertThat(service.echo("x")).isEqualTo("x");
        assertThat(service.echo("y")).isEqualTo("y");
        assertThat(server.connections()).isEqualTo(3);
    }

    @Test
    void referencesShareOneConnectionToAnAddress() {
        RpcServer server = sides.serve();
        RpcClient client = sides.client(ConnectionTest::patient);
        Endpoint endpoint = new Endpoint("127.0.0.1", server.port());

        GreetService plain = Sides.refer(client, reference -> {}, endpoint);
        GreetService other =
                Sides.refer(client, reference -> reference.group("g1").version("1.2.3"), endpoint);

        assertThat(plain.echo("x")).isEqualTo("x");
        assertThat(other.echo("y")).isEqualTo("y");
        assertThat(server.connections()).isEqualTo(1);
        assertThat(client.connections()).hasSize(1);
    }

    @Test
    void closedClientClosesItsSockets() {
        RpcServer server = sides.serve();
        RpcClient client = sides.client(ConnectionTest::patient);
        GreetService service = Sides.refer(client, reference -> {}, new Endpoint("127.0.0.1", server.port()));
        assertThat(service.echo("x")).isEqualTo("x");

        client.close();

        Await.until("the server sees it", () -> server.connections() == 0);
        assertThat(catchThrowable(() -> service.echo("x"))).isInstanceOf(RpcException.class);
    }

    @Test
    void silentServerGetsAHeartbeatAndIsThenDisconnected() {
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(defaults -> patient(defaults)
                    .withHeartbeat(Duration.ofMillis(50))
                    .withProbe(Duration.ofSeconds(60), Duration.ofMillis(50)));
            Sides.refer(client, reference -> {}, server.endpoint());

            RawSocket silent = server.next();
            RawFrame asked = silent.read();

            assertThat(asked).isEqualTo(RawFrame.heartbeat(asked.id()));
            assertThat(silent.isClosedByPeer()).isTrue();
            assertThat(server.next()).isNotNull();
        }
    }

    @Test
    void serverThatAnswersHeartbeatsIsKept() {
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(defaults -> patient(defaults)
                    .withHeartbeat(Duration.ofMillis(20))
                    .withProbe(Duration.ofSeconds(60), Duration.ofSeconds(20)));
            Sides.refer(client, reference -> {}, server.endpoint());
            RawSocket socket = server.next();

            for (int i = 0; i < 10; i++) {
                socket.send(RawFrame.heartbeatAnswer(socket.read().id()));
            }

            assertThat(socket.read().flags()).isEqualTo(RawFrame.HEARTBEAT);
            assertThat(server.accepted()).isEqualTo(1);
        }
    }

    @Test
    void silentServerWithAWaitingCallIsDisconnectedSooner() throws Exception {
        try (RawServer server = RawServer.start()) {
            // The client measures the time until the heartbeat from the beginning of the call, before it queues the
            // request. Two seconds are long enough for the request to be sent before the heartbeat.
            RpcClient client =
                    sides.client(defaults -> patient(defaults).withProbe(Duration.ofSeconds(2), Duration.ofMillis(50)));
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            Future<RpcException> call = failing(() -> service.echo("x"));
            RawSocket silent = server.next();

            silent.read();
            assertThat(silent.read().flags()).isEqualTo(RawFrame.HEARTBEAT);

            assertThat(get(call).code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(get(call).wasExecuted()).isEqualTo(Executed.MAYBE);
            assertThat(get(call)).hasMessageContaining("nothing was received for");
        }
    }

    @Test
    void idleConnectionsAreClosedByTheServer() {
        RpcServer server = sides.serve(
                limits -> limits.withIdleTimeout(Duration.ofMillis(500)).withFirstBytesTimeout(Duration.ofSeconds(20)),
                settings -> {});
        // the test runs twice: in the second round, the server might already have scheduled its check for idle
        // connections
        for (int i = 0; i < 2; i++) {
            try (RawSocket socket = RawSocket.connect(server.port());
                    RawSocket silent = RawSocket.connect(server.port())) {
                socket.send(RawFrame.heartbeat(1));
                assertThat(socket.read()).isEqualTo(RawFrame.heartbeatAnswer(1));

                RawFrame asked = socket.read();
                assertThat(asked).isEqualTo(RawFrame.readOnly(asked.id()));
                assertThat(socket.isClosedByPeer()).isTrue();
                assertThat(silent.isClosedByPeer()).isTrue();
            }
        }
    }

    @Test
    void connectionWithARunningCallIsNotIdle() throws Exception {
        RpcServer server = sides.serve(
                limits ->
                        limits.withIdleTimeout(Duration.ofMillis(1_500)).withFirstBytesTimeout(Duration.ofSeconds(20)),
                settings -> {});
        GreetService service = Sides.refer(
                sides.client(ConnectionTest::patient), reference -> {}, new Endpoint("127.0.0.1", server.port()));

        assertThat(service.slow(3_800)).isEqualTo("slow");
    }

    @Test
    void connectionThatIsToTakeNoNewCallsIsReplacedAndLivesUntilItsLastAnswer() throws Exception {
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(ConnectionTest::patient);
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            Future<String> running = inBackground(() -> service.echo("x"));
            RawSocket leaving = server.next();
            RawFrame request = leaving.read();

            leaving.send(RawFrame.readOnly(7));

            RawSocket fresh = server.next().greet();
            Await.until("the new one is ready", () -> only(client).isAvailable());
            Future<String> next = inBackground(() -> service.echo("x"));
            answer(fresh, fresh.read());
            assertThat(get(next)).isEqualTo("hello");
            answer(leaving, request);
            assertThat(get(running)).isEqualTo("hello");
            assertThat(leaving.isClosedByPeer()).isTrue();
        }
    }

    /** Dubbo's providers write events in their preferred serialization, which is fastjson2 (23) in Dubbo 3.2. */
    @Test
    void connectionIsReplacedIfItsServerLeavesInAnotherSerialization() throws Exception {
        try (RawServer server = RawServer.start()) {
            GreetService service =
                    Sides.refer(sides.client(ConnectionTest::patient), reference -> {}, server.endpoint());
            Future<String> running = inBackground(() -> service.echo("x"));
            RawSocket leaving = server.next();
            RawFrame request = leaving.read();

            leaving.send(new RawFrame(0xA0 | 23, 0, 7, new byte[] {0, 0, 0, 2, 0x4A, 'R'}));
            answer(leaving, request);

            assertThat(get(running)).isEqualTo("hello");
            assertThat(leaving.isClosedByPeer()).isTrue();
            server.next();
        }
    }

    @Test
    void heartbeatsInAnotherSerializationAreAnswered() throws Exception {
        try (RawServer server = RawServer.start()) {
            GreetService service =
                    Sides.refer(sides.client(ConnectionTest::patient), reference -> {}, server.endpoint());
            Future<String> running = inBackground(() -> service.echo("x"));
            RawSocket socket = server.next();
            RawFrame request = socket.read();

            socket.send(new RawFrame(0xE0 | 23, 0, 7, new byte[] {0, 0, 0, 1, (byte) 0xAF}));

            assertThat(socket.read()).isEqualTo(RawFrame.heartbeatAnswer(7));
            answer(socket, request);
            assertThat(get(running)).isEqualTo("hello");
        }
    }

    @Test
    void readOnlyThatIsTakenBackStillClosesTheReplacedConnection() throws Exception {
        try (RawServer server = RawServer.start()) {
            GreetService service =
                    Sides.refer(sides.client(ConnectionTest::patient), reference -> {}, server.endpoint());
            Future<String> running = inBackground(() -> service.echo("x"));
            RawSocket leaving = server.next();
            RawFrame request = leaving.read();

            leaving.send(RawFrame.readOnly(7));
            leaving.send(new RawFrame(RawFrame.READ_ONLY, 0, 8, new byte[] {1, 'W'}));
            answer(leaving, request);

            assertThat(get(running)).isEqualTo("hello");
            assertThat(leaving.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void callsAboveTheLimitInFlightAreRefusedAsNotExecuted() throws Exception {
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(defaults -> patient(defaults).withMaxInFlight(1));
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            Future<String> first = inBackground(() -> service.echo("x"));
            RawSocket socket = server.next();
            RawFrame request = socket.read();

            RpcException failure = catchThrowableOfType(RpcException.class, () -> service.echo("y"));

            assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure)
                    .hasMessageContaining("1 of 1")
                    .hasMessageContaining("rpc.limits.max-calls-per-connection");
            answer(socket, request);
            assertThat(get(first)).isEqualTo("hello");
        }
    }

    @Test
    void callsBeyondTheBytesAllowedToWaitAreRefusedAsNotExecuted() throws Exception {
        long limit = 1 << 20;
        try (RawServer server = RawServer.start()) {
            RpcClient client = sides.client(defaults -> patient(defaults).withMaxQueuedBytes(limit));
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            server.next(); // the server accepts the connection but reads nothing
            byte[] large = new byte[7 << 20];
            List<Future<RpcException>> calls = new ArrayList<>();
            Await.until("more than is allowed waits to be sent", () -> {
                if (only(client).inFlight() == calls.size()) {
                    calls.add(failing(() -> service.bytes(large)));
                }
                return only(client).queuedBytes() > limit;
            });

            RpcException failure = catchThrowableOfType(RpcException.class, () -> service.echo("y"));

            assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
            assertThat(failure).hasMessageContaining("rpc.limits.max-unsent");
            client.close();
            for (Future<RpcException> call : calls) {
                assertThat(get(call).code()).isIn(StatusCode.UNAVAILABLE, StatusCode.RESOURCE_EXHAUSTED);
            }
        }
    }

    @Test
    void requestLargerThanAllowedIsNotSent() {
        RpcServer server = sides.serve();
        GreetService service = Sides.refer(
                sides.client(defaults -> patient(defaults).withMaxMessageBytes(10_000)),
                reference -> {},
                new Endpoint("127.0.0.1", server.port()));

        RpcException failure = catchThrowableOfType(RpcException.class, () -> service.bytes(new byte[10_001]));

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(service.echo("x")).isEqualTo("x");
    }

    @Test
    void nextAddressIsTriedWhenTheFirstIsDown() throws IOException {
        RpcServer server = sides.serve();
        try (Socket deaf = deaf()) {
            GreetService service = Sides.refer(
                    sides.client(ConnectionTest::patient),
                    reference -> {},
                    new Endpoint("127.0.0.1", deaf.getLocalPort()),
                    new Endpoint("127.0.0.1", server.port()));
            Await.until("the other is connected", () -> server.connections() == 1);

            for (int i = 0; i < 20; i++) {
                assertThat(service.echo("x" + i)).isEqualTo("x" + i);
            }
        }
    }

    @Test
    void drainEndsWhenTheClientsHaveGone() throws Exception {
        RpcServer server = sides.serve();
        GreetService service = Sides.refer(
                sides.client(ConnectionTest::patient), reference -> {}, new Endpoint("127.0.0.1", server.port()));
        Future<String> running = inBackground(() -> service.slow(2_000));
        Await.until("it runs", () -> server.workers().active() == 1);

        server.drain(Duration.ofSeconds(30));

        assertThat(server.connections()).isZero();
        assertThat(get(running)).isEqualTo("slow");
    }

    @Test
    void failedOnwardCallIsNotReportedAsNotExecuted() {
        RpcException ofTheNextHop = new RpcException(StatusCode.RESOURCE_EXHAUSTED, "next hop", Executed.NO, null);
        GreetServer relaying = new GreetServer() {
            @Override
            public String echo(String s) {
                throw ofTheNextHop;
            }

            @Override
            public CompletableFuture<String> async(String s) {
                return CompletableFuture.failedFuture(ofTheNextHop);
            }
        };
        RpcServer server = sides.serve(
                limits -> limits,
                settings -> settings.export(ServiceExport.of(GreetService.class, relaying, "hop", "")));
        GreetService service = Sides.refer(
                sides.client(ConnectionTest::patient),
                reference -> reference.group("hop"),
                new Endpoint("127.0.0.1", server.port()));

        RpcException failure = catchThrowableOfType(RpcException.class, () -> service.echo("x"));
        Throwable later = catchThrowable(() -> service.async("x").join()).getCause();

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isNotEqualTo(Executed.NO);
        assertThat(((RpcException) later).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(((RpcException) later).wasExecuted()).isNotEqualTo(Executed.NO);
    }

    /**
     * Tests that an answer is released if its caller has been interrupted. The leak check after this class detects an
     * unreleased answer.
     */
    @Test
    void answerForACallerThatWasInterruptedIsReleased() throws Exception {
        try (RawServer server = RawServer.start()) {
            ClientFilter filter = (call, next) -> next.invoke(call);
            RpcClient client = sides.client(ConnectionTest::patient, builder -> builder.filter(filter));
            GreetService service = Sides.refer(client, reference -> {}, server.endpoint());
            CompletableFuture<Thread> caller = new CompletableFuture<>();
            Future<RpcException> call = failing(() -> {
                caller.complete(Thread.currentThread());
                return service.echo("x");
            });
            RawSocket socket = server.next();
            RawFrame request = socket.read();

            get(caller).interrupt();

            assertThat(get(call).code()).isEqualTo(StatusCode.CANCELLED);
            answer(socket, request);
            Await.until("the answer was taken", () -> only(client).inFlight() == 0);
        }
    }
}
