package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientConnection;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests blocking callers that use their own sockets, and every kind of event that ends a caller's wait for an answer.
 */
@Timeout(60)
class Http1CallerTest {

    interface Notes {
        String echo(String text);

        CompletableFuture<String> later(String text);
    }

    private static final String JSON = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";

    private final EventLoops loops = EventLoops.start(1);
    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private final RawServer server = RawServer.start();
    private final List<ClientConnection> connections = new ArrayList<>();
    private RpcClient client = RpcClient.builder().build();

    private RawSocket ofEventLoop; // the server's side of the connection that the client opened first

    @AfterEach
    void stop() {
        client.close();
        server.close();
        loops.close();
    }

    /**
     * Creates a client whose first connection is already open. This connection belongs to an event loop, not to a
     * blocking caller.
     */
    private Notes notes(int mostConnections) {
        ClientTransportSettings settings = ClientTransportSettings.named("shop")
                .withReconnect(Duration.ofMillis(1), Duration.ofMillis(2))
                .withMaxInFlight(mostConnections)
                .withMaxMessageBytes(1 << 20);
        NettyClientTransport transport = new NettyClientTransport(settings, loops, new Http1ClientProtocol(codecs));
        client = RpcClient.builder()
                .transport(new ShownTransport(transport, connections::add))
                .timeout(Duration.ofSeconds(20))
                .build();
        Notes notes = client.refer(ServiceReference.to(Notes.class, new StaticEndpoints(List.of(server.endpoint())))
                .protocol(Http1ClientProtocol.NAME)
                .build());
        Await.until("the first connection is there", () -> connection().isAvailable());
        ofEventLoop = server.next();
        return notes;
    }

    private Notes notes() {
        return notes(8);
    }

    private ClientConnection connection() {
        return connections.get(0);
    }

    /** A thread that makes one call. */
    private static final class Caller {

        private final FutureTask<String> call;
        private final Thread thread;

        Caller(Notes notes, String text) {
            call = new FutureTask<>(() -> notes.echo(text));
            thread = new Thread(call, "caller");
            thread.start();
        }

        String result() throws Exception {
            return call.get(30, TimeUnit.SECONDS);
        }

        RpcException failure() throws Exception {
            try {
                throw new AssertionError("answered with " + result());
            } catch (ExecutionException e) {
                return (RpcException) e.getCause();
            }
        }
    }

    private static void request(RawSocket socket) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) socket.readFully(1)[0]);
        }
        socket.readFully(Integer.parseInt(head.toString().replaceAll("(?s).*content-length: (\\d+).*", "$1")));
    }

    private static void answer(RawSocket socket, String json) {
        socket.send((JSON + json.length() + "\r\n\r\n" + json).getBytes(UTF_8));
    }

    private RawSocket answered(Notes notes) throws Exception {
        Caller caller = new Caller(notes, "1");
        RawSocket socket = server.next();
        request(socket);
        answer(socket, "\"one\"");
        assertThat(caller.result()).isEqualTo("one");
        return socket;
    }

    /** Waits until a connection has been idle for so long that the client checks it before using it. */
    private static void becomesOld() {
        long began = System.nanoTime();
        BooleanSupplier old = () -> System.nanoTime() - began > TimeUnit.MILLISECONDS.toNanos(20);
        Await.until("it was idle for 20 ms", old);
    }

    private void assertNextCallIsAnsweredOnAnotherSocket(Notes notes) throws Exception {
        Caller next = new Caller(notes, "next");
        RawSocket other = server.next();
        request(other);
        answer(other, "\"fine\"");
        assertThat(next.result()).isEqualTo("fine");
        Await.until("the socket before is forgotten", () -> connection().inFlight() == 0);
        assertThat(connection().queuedBytes()).isZero();
    }

    @Test
    void callsThatFollowEachOtherShareASocket() throws Exception {
        Notes notes = notes();
        RawSocket socket = answered(notes);
        int accepted = server.accepted();

        for (int i = 0; i < 20; i++) {
            if (i % 10 == 9) {
                becomesOld();
            }
            Caller caller = new Caller(notes, "next");
            request(socket);
            answer(socket, "\"" + i + "\"");
            assertThat(caller.result()).isEqualTo(String.valueOf(i));
        }

        assertThat(server.accepted()).isEqualTo(accepted);
    }

    @Test
    void callersAtTheSameTimeHaveSocketsOfTheirOwn() throws Exception {
        Notes notes = notes();
        Caller slow = new Caller(notes, "slow");
        RawSocket first = server.next();
        request(first);
        Caller fast = new Caller(notes, "fast");
        RawSocket second = server.next();
        request(second);
        assertThat(connection().inFlight()).isEqualTo(2);

        answer(second, "\"fast\"");
        assertThat(fast.result()).isEqualTo("fast");
        answer(first, "\"slow\"");

        assertThat(slow.result()).isEqualTo("slow");
    }

    @Test
    void deadlineEndsTheWaitForAnAnswer() throws Exception {
        Notes notes = notes();
        Caller caller =
                new Caller(CallOptions.none().timeout(Duration.ofSeconds(2)).on(notes), "x");
        RawSocket socket = server.next();
        request(socket);
        socket.send((JSON + "9\r\n\r\n\"ha").getBytes(UTF_8));

        RpcException failure = caller.failure();

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(failure).hasMessageContaining("no answer from").hasMessageContaining("CallOptions.timeout");
        assertThat(socket.isClosedByPeer()).isTrue();
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @Test
    void interruptEndsTheWaitAndLeavesTheThreadInterrupted() throws Exception {
        Notes notes = notes();
        CountDownLatch interrupted = new CountDownLatch(1);
        FutureTask<RpcException> call = new FutureTask<>(() -> {
            try {
                throw new AssertionError(notes.echo("x"));
            } catch (RpcException e) {
                if (Thread.currentThread().isInterrupted()) {
                    interrupted.countDown();
                }
                return e;
            }
        });
        Thread thread = new Thread(call, "caller");
        thread.start();
        RawSocket socket = server.next();
        request(socket);

        thread.interrupt();

        assertThat(call.get(30, TimeUnit.SECONDS).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(interrupted.getCount()).isZero();
        assertThat(socket.isClosedByPeer()).isTrue();
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @Test
    void closingTheClientEndsTheWait() throws Exception {
        Notes notes = notes();
        Caller caller = new Caller(notes, "x");
        RawSocket socket = server.next();
        request(socket);

        client.close();

        RpcException failure = caller.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(failure).hasMessageContaining("the client is closed");
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void closingTheClientClosesIdleSockets() throws Exception {
        RawSocket socket = answered(notes());

        client.close();

        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void socketThatTheServerClosedWhileIdleIsNotUsed() throws Exception {
        Notes notes = notes();
        RawSocket socket = answered(notes);
        becomesOld();

        socket.close();

        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @Test
    void socketThatTheServerClosedWhileIdleIsClosedWithoutACall() throws Exception {
        RawSocket socket = answered(notes());

        socket.endOutput();

        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void socketOnWhichSomethingCameWhileIdleIsNotUsed() throws Exception {
        Notes notes = notes();
        RawSocket socket = answered(notes);
        becomesOld();

        answer(socket, "\"an answer to the next caller, perhaps\"");

        assertNextCallIsAnsweredOnAnotherSocket(notes);
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void socketOnWhichMoreCameThanTheAnswerIsNotUsedAgain() throws Exception {
        Notes notes = notes();
        Caller caller = new Caller(notes, "x");
        RawSocket socket = server.next();
        request(socket);
        String twice = JSON + "5\r\n\r\n\"one\"" + JSON + "5\r\n\r\n\"two\"";

        socket.send(twice.getBytes(UTF_8));

        assertThat(caller.result()).isEqualTo("one");
        assertThat(socket.isClosedByPeer()).isTrue();
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1 200 OK\r\nconnection: close\r\n", "HTTP/1.0 200 OK\r\n"})
    void socketThatTheServerWantsToCloseIsNotUsedAgain(String head) throws Exception {
        Notes notes = notes();
        Caller caller = new Caller(notes, "x");
        RawSocket socket = server.next();
        request(socket);

        socket.send((head + "content-type: application/json\r\ncontent-length: 3\r\n\r\n\"x\"").getBytes(UTF_8));

        assertThat(caller.result()).isEqualTo("x");
        assertThat(socket.isClosedByPeer()).isTrue();
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "HTTP/1.1 20",
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n\"a"
            })
    void connectionLostBeforeTheEndOfTheAnswerMayHaveExecutedTheCall(String half) throws Exception {
        Notes notes = notes();
        Caller caller = new Caller(notes, "x");
        RawSocket socket = server.next();
        request(socket);
        socket.send(half.getBytes(UTF_8));

        socket.close();

        RpcException failure = caller.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "Hello, stranger~ | INTERNAL | cannot be read",
                "HTTP/1.1 200 OK~content-length: 1~content-length: 1~~x | INTERNAL | twice",
                "HTTP/1.1 200 OK~~ | INTERNAL | neither a length nor chunks",
                "HTTP/1.1 200 OK~content-length: 1048577~~ | RESOURCE_EXHAUSTED | rpc.limits.max-response",
                "HTTP/1.1 200 OK~transfer-encoding: chunked~~100001~ | RESOURCE_EXHAUSTED | rpc.limits.max-response",
            })
    void answerThatCannotBeReadEndsTheWaitAndTheSocket(String answer, StatusCode code, String message)
            throws Exception {
        Notes notes = notes();
        Caller caller = new Caller(notes, "x");
        RawSocket socket = server.next();
        request(socket);

        socket.send(answer.replace("~", "\r\n").getBytes(UTF_8));
        if (answer.contains("100001")) {
            socket.send("x".repeat(0x100001).getBytes(UTF_8));
        }

        RpcException failure = caller.failure();
        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
        assertThat(failure).hasMessageContaining(message);
        assertThat(socket.isClosedByPeer()).isTrue();
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @Test
    void largeRequestAndAnswerComeThrough() throws Exception {
        Notes notes = notes();
        String text = "x".repeat(700_000);
        Caller caller = new Caller(notes, text);
        RawSocket socket = server.next();
        request(socket);

        answer(socket, '"' + text + '"');

        assertThat(caller.result()).isEqualTo(text);
        assertThat(connection().queuedBytes()).isZero();
    }

    @Test
    void answerByteByByteBehindAContinueIsRead() throws Exception {
        Notes notes = notes();
        Caller caller = new Caller(notes, "x");
        RawSocket socket = server.next();
        request(socket);

        socket.sendByteByByte(("HTTP/1.1 100 Continue\r\nx: y\r\n\r\nHTTP/1.1 200\r\nContent-Type: application/json\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n3\r\n\"he\r\n3;a=b\r\ny\" \r\n0\r\nt: 1\r\n\r\n")
                .getBytes(UTF_8));

        assertThat(caller.result()).isEqualTo("hey");
    }

    @Test
    void idleConnectionsOfOneKindAreClosedForTheOther() throws Exception {
        Notes notes = notes(1); // the limit is one connection, which belongs to an event loop

        RawSocket callers = answered(notes);
        CompletableFuture<String> later = notes.later("x");

        RawSocket eventLoops = server.next();
        request(eventLoops);
        answer(eventLoops, "\"later\"");
        assertThat(later.join()).isEqualTo("later");
        assertThat(callers.isClosedByPeer()).isTrue();
        assertNextCallIsAnsweredOnAnotherSocket(notes);
    }

    @Test
    void callBeyondTheLimitIsRefusedAsNotExecuted() throws Exception {
        Notes notes = notes(1);
        Caller caller = new Caller(notes, "1");
        RawSocket socket = server.next();
        request(socket);

        assertThatThrownBy(() -> notes.echo("2")).isInstanceOfSatisfying(RpcException.class, refused -> {
            assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            assertThat(refused.wasExecuted()).isEqualTo(Executed.NO);
        });

        answer(socket, "\"one\"");
        assertThat(caller.result()).isEqualTo("one");
    }

    @Test
    void idleSocketsStayInUseWhileTheServerAcceptsNoFurtherOnes() throws Exception {
        Notes notes = notes();
        RawSocket socket = answered(notes);
        server.stopListening();
        Caller busy = new Caller(notes, "busy");
        request(socket);
        Caller retried = new Caller(notes, "no socket can be opened, so the event loop's socket is used");
        request(ofEventLoop);

        RpcException failure = new Caller(notes, "one too many").failure();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(connection().isAvailable()).isFalse();
        answer(ofEventLoop, "\"retried\"");
        assertThat(retried.result()).isEqualTo("retried");
        answer(socket, "\"busy\"");
        assertThat(busy.result()).isEqualTo("busy");

        for (int i = 0; i < 5; i++) {
            Caller caller = new Caller(notes, "again");
            request(socket);
            answer(socket, "\"again\"");
            assertThat(caller.result()).isEqualTo("again");
            assertThat(connection().isAvailable()).isTrue();
        }
        assertThat(connection().timesAvailable()).isEqualTo(1);
    }

    @Test
    void lostServerIsReportedAndReconnected() throws Exception {
        Notes notes = notes();
        int port = server.port();
        server.close();
        RpcException failure = new Caller(notes, "x").failure();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        Await.until("its idle sockets are gone", () -> !connection().isAvailable());
        assertThat(new Caller(notes, "x").failure()).hasMessageContaining("refused");
        assertThat(connection().lastFailure()).contains("refused");

        try (RawServer again = RawServer.start(port)) {
            Await.until("it is there", () -> connection().isAvailable());
            assertThat(connection().timesAvailable()).isEqualTo(2);
            answerOnEverySocket(again);
            assertThat(new Caller(notes, "1").result()).isEqualTo("one");
        }
    }

    /** Answers the first request on each socket, because the client might have opened several sockets. */
    private static void answerOnEverySocket(RawServer again) {
        inBackground(() -> {
            while (true) {
                RawSocket socket = again.next();
                inBackground(() -> {
                    request(socket);
                    answer(socket, "\"one\"");
                });
            }
        });
    }

    /** Repeats the task until it fails. The task fails when its socket is closed. */
    private static void inBackground(Runnable task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (RuntimeException | AssertionError closed) {
                // the test has ended
            }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
