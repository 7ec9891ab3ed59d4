package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http2.Http2Error;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.netty.triple.Requests.Opened;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.UnsentCallException;

/** Tests streams between Tern's client and a scripted server. */
@Timeout(60)
class TripleClientStreamTest {

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            "raw.Service",
            List.of(
                    new Operation("down", MethodType.SERVER_STREAMING, byte[].class, byte[].class),
                    new Operation("up", MethodType.CLIENT_STREAMING, byte[].class, byte[].class),
                    new Operation("both", MethodType.BIDI_STREAMING, byte[].class, byte[].class)));

    private static final String[] OK = {":status", "200", "content-type", "application/grpc"};
    private static final byte[] NOTHING = new byte[8];

    private final Requests requests = new Requests();
    private final RawServer server = RawServer.start();

    @AfterEach
    void close() {
        requests.close();
        server.close();
    }

    private static MethodDescriptor method(String name) {
        return SERVICE.overloads(name).get(0);
    }

    private Opened open(String name, Object... arguments) {
        return requests.open(requests.connect(server.endpoint()), requests.call(method(name), arguments));
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static byte[] framed(String text) {
        return Http2Script.framed(0, bytes(text));
    }

    private static String text(Object message) {
        return new String((byte[]) message, UTF_8);
    }

    /**
     * Sends a PING and waits for its acknowledgement. When it arrives, the client has processed all frames that were
     * sent before the PING.
     */
    private static void ping(Http2Script script) {
        script.send(Http2Script.PING, 0, 0, NOTHING);
        assertThat(script.next(Http2Script.PING).flags()).isEqualTo(Http2Script.ACK);
    }

    // Answer tests

    @Test
    void answersAreDeliveredInOrderWithHeadersAndTrailers() {
        Opened opened = open("down", (Object) bytes("x"));
        opened.stream.request(10);
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        script.head(3, ":status", "200", "content-type", "application/grpc", "first", "1");
        script.data(3, framed("a")).data(3, framed("b"));
        script.end(3, "grpc-status", "0", "last", "2");

        assertThat(request.body.toByteArray()).isEqualTo(framed("x"));
        assertThat(opened.next(Metadata.class).get("first")).isEqualTo("1");
        assertThat(text(opened.next())).isEqualTo("a");
        assertThat(text(opened.next())).isEqualTo("b");
        Response end = opened.next(Response.class);
        assertThat(end.value()).isNull();
        assertThat(end.headers().get("first")).isEqualTo("1");
        assertThat(end.metadata().get("last")).isEqualTo("2");
    }

    @Test
    void onlyRequestedAnswersAreDelivered() {
        Opened opened = open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();

        ByteArrayOutputStream three = new ByteArrayOutputStream();
        three.writeBytes(framed("a"));
        three.writeBytes(framed("b"));
        three.writeBytes(framed("c"));
        script.head(3, OK).data(3, three.toByteArray()).end(3, "grpc-status", "0");
        ping(script);

        opened.next(Metadata.class);
        assertThat(opened.events).isEmpty();
        opened.stream.request(2);
        assertThat(text(opened.next())).isEqualTo("a");
        assertThat(text(opened.next())).isEqualTo("b");
        ping(script);
        assertThat(opened.events).isEmpty();
        assertThat(opened.pending.isDone()).as("one answer is left").isFalse();
        opened.stream.request(1);
        assertThat(text(opened.next())).isEqualTo("c");
        opened.next(Response.class);
    }

    @Test
    void serverIsSlowedDownWhileNoAnswersAreRequested() {
        Opened opened = open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();
        byte[] large = Http2Script.framed(0, new byte[(1 << 20) - 5]);
        script.head(3, OK).data(3, large); // the array is as large as the stream's flow-control window permits

        script.send(Http2Script.PING, 0, 0, NOTHING);
        Frame next = script.next();
        while (next.type() == Http2Script.SETTINGS) {
            next = script.next();
        }
        assertThat(next.type()).as("no credit came before it").isEqualTo(Http2Script.PING);
        opened.stream.request(1);

        Frame credit = script.next(Http2Script.WINDOW_UPDATE);
        assertThat(credit.stream()).isEqualTo(3);
        assertThat(credit.payload()).isEqualTo(Http2Script.fourBytes(large.length));
        opened.next(Metadata.class);
        assertThat((byte[]) opened.next()).hasSize(large.length - 5);
    }

    @Test
    void messageLargerThanTheWindowArrivesAfterItsRequest() {
        Opened opened = open("down", (Object) bytes("x"));
        opened.stream.request(1);
        Http2Script script = Http2Script.accept(server);
        script.request();
        byte[] large = Http2Script.framed(0, new byte[2 << 20]);
        script.head(3, OK);

        int window = 1 << 20;
        for (int sent = 0; sent < large.length; ) {
            int piece = Math.min(Math.min(16 << 10, large.length - sent), window);
            if (piece == 0) {
                Frame credit = script.next(Http2Script.WINDOW_UPDATE);
                window +=
                        credit.stream() == 3 ? ByteBuffer.wrap(credit.payload()).getInt() : 0;
            } else {
                script.send(Http2Script.DATA, 0, 3, Arrays.copyOfRange(large, sent, sent + piece));
                sent += piece;
                window -= piece;
            }
        }
        script.end(3, "grpc-status", "0");

        opened.next(Metadata.class);
        assertThat((byte[]) opened.next()).hasSize(2 << 20);
        opened.next(Response.class);
    }

    @Test
    void failureComesAfterTheAnswersBeforeIt() {
        Opened opened = open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.head(3, OK).data(3, framed("a")).end(3, "grpc-status", "9", "grpc-message", "no more", "why", "x");
        ping(script);

        opened.stream.request(5);

        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("a");
        RpcException failure = opened.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(failure.status().description()).isEqualTo("no more");
        assertThat(failure.metadata().get("why")).isEqualTo("x");
    }

    @Test
    void failureAtOnceHasNoHeaders() {
        Opened opened = open("down", (Object) bytes("x"));
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.end(3, ":status", "200", "content-type", "application/grpc", "grpc-status", "12");

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.UNIMPLEMENTED);
    }

    @Test
    void messageThatIsCutOffFailsTheStream() {
        Opened opened = open("down", (Object) bytes("x"));
        opened.stream.request(5);
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.head(3, OK)
                .data(3, framed("a"))
                .data(3, new byte[] {0, 0, 0, 0, 9, 1})
                .end(3, "grpc-status", "0");

        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("a");
        assertThat(opened.next(RpcException.class)).hasMessageContaining("in the middle of a message");
    }

    @Test
    void receiverThatThrowsFailsItsStreamAlone() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened broken = requests.open(connection, requests.call(method("both")));
        broken.failing = new IllegalStateException("on purpose");
        broken.stream.request(5);
        Opened other = requests.open(connection, requests.call(method("both")));
        other.stream.request(5);
        Http2Script script = Http2Script.accept(server);
        script.begun();
        script.begun();
        script.head(3, OK).data(3, framed("a")).head(5, OK).data(5, framed("b"));
        broken.next(Metadata.class);
        other.next(Metadata.class);

        RpcException failure = broken.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.INTERNAL);
        assertThat(failure).hasMessageContaining("on purpose");
        assertThat(text(other.next())).isEqualTo("b");
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
        script.data(5, framed("c")).end(5, "grpc-status", "0");

        assertThat(text(other.next())).isEqualTo("c");
        other.next(Response.class);
    }

    // Request tests

    @Test
    void headersAreSentBeforeTheFirstRequest() {
        Opened opened = open("both");
        opened.stream.request(5);
        Http2Script script = Http2Script.accept(server);
        Request request = script.begun();
        script.head(3, OK).data(3, framed("welcome"));

        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("welcome");
        opened.stream.send(bytes("a"));
        opened.stream.send(bytes("b"));
        opened.stream.end();
        assertThat(script.request()).isSameAs(request);
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(framed("a"));
        both.writeBytes(framed("b"));
        assertThat(request.body.toByteArray()).isEqualTo(both.toByteArray());
        assertThat(request.header("grpc-encoding")).isEmpty();
        script.end(3, "grpc-status", "0");
        opened.next(Response.class);
    }

    @Test
    void requestsMayBeCompressed() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened opened = requests.open(connection, requests.call(method("up")).withCompression(true));
        opened.stream.send(bytes("x".repeat(1_000)));
        opened.stream.end();
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        assertThat(request.header("grpc-encoding")).isEqualTo("gzip");
        assertThat(request.body.toByteArray()).hasSizeLessThan(100).startsWith(1);
    }

    @Test
    void eachRequestMayBeCompressedOrNotIfTheCallOffersIt() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened opened = requests.open(connection, requests.call(method("up")).withCompression(true));
        opened.stream.compress(false);
        opened.stream.send(bytes("plain"));
        opened.stream.compress(true);
        opened.stream.send(bytes("x".repeat(1_000)));
        opened.stream.end();
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        byte[] plain = framed("plain");
        assertThat(request.header("grpc-encoding")).isEqualTo("gzip");
        assertThat(request.body.toByteArray()).startsWith(plain).hasSizeLessThan(plain.length + 100);
        assertThat(request.body.toByteArray()[plain.length]).isEqualTo((byte) 1);
    }

    @Test
    void requestsSentBeforeThereIsAStreamWaitForIt() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened first = requests.open(connection, requests.call(method("both")));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened second = requests.open(connection, requests.call(method("up")));
        second.stream.send(bytes("a"));
        second.stream.end();
        second.stream.request(1);
        ping(script);

        script.end(3, ":status", "200", "content-type", "application/grpc", "grpc-status", "0");
        first.next(Response.class);
        Request request = script.request();
        script.answer(request.stream, bytes("sum"));

        assertThat(request.body.toByteArray()).isEqualTo(framed("a"));
        second.next(Metadata.class);
        assertThat(text(second.next())).isEqualTo("sum");
        second.next(Response.class);
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
    }

    @Test
    void streamIsReadyAgainWhenTheServerTakesMore() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        script.begun();
        assertThat(opened.stream.isReady()).isTrue();

        opened.stream.send(new byte[20_000]);
        assertThat(opened.stream.isReady()).isTrue();
        opened.stream.send(new byte[20_000]);
        assertThat(opened.stream.isReady()).isFalse();
        ping(script);
        assertThat(opened.events).isEmpty();
        script.credit(3, 40_010);

        assertThat(opened.next()).isEqualTo("ready");
        assertThat(opened.stream.isReady()).isTrue();
    }

    /** Two open streams of one connection whose write queue is full above 50,000 bytes. */
    private List<Opened> openTwo() {
        ClientConnection connection =
                requests.connect(server.endpoint(), settings -> settings.withMaxQueuedBytes(50_000));
        return List.of(
                requests.open(connection, requests.call(method("both"))),
                requests.open(connection, requests.call(method("both"))));
    }

    @Test
    void streamWaitsWhileOtherStreamsFillTheQueue() {
        List<Opened> opened = openTwo();
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        script.begun();
        script.begun();
        Opened second = opened.get(1);
        assertThat(second.stream.isReady()).isTrue();

        opened.get(0).stream.send(new byte[60_000]);
        assertThat(second.stream.isReady()).isFalse();
        ping(script);
        assertThat(second.events).isEmpty();
        script.credit(3, 60_005);

        assertThat(second.next()).isEqualTo("ready");
        assertThat(second.stream.isReady()).isTrue();
    }

    @Test
    void messageOfAStreamThatWasReadyIsQueuedBeyondTheLimit() {
        List<Opened> opened = openTwo();
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        Request first = script.begun();
        Request second = script.begun();
        opened.get(0).stream.send(new byte[60_000]);

        opened.get(1).stream.send(new byte[40_000]);

        assertThatThrownBy(() -> opened.get(1).stream.send(new byte[1]))
                .hasMessageContaining("of 50000 bytes (set by rpc.limits.max-unsent)");
        script.credit(first.stream, 60_005);
        assertThat(opened.get(0).next()).isEqualTo("ready");
        assertThat(opened.get(1).next(RpcException.class).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(second.stream);
    }

    @Test
    void writerThatIgnoresReadinessIsCutOff() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 0);
        script.begun();
        byte[] message = new byte[1 << 20];
        opened.stream.send(message);

        assertThatThrownBy(() -> opened.stream.send(message))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("send when the stream is ready");

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
        opened.stream.send(message); // the client drops the message, because the stream has ended
        assertThat(opened.stream.isReady()).isFalse();
    }

    @Test
    void unsendableMessageIsRefusedAndTheStreamContinues() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server);
        Request request = script.begun();

        assertThatThrownBy(() -> opened.stream.send("text"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("INTERNAL")
                .hasMessageContaining("java.lang.String");
        assertThatThrownBy(() -> opened.stream.send(new byte[9 << 20]))
                .hasMessageContaining("RESOURCE_EXHAUSTED")
                .hasMessageContaining("rpc.limits.max-request");
        opened.stream.send(bytes("fine"));
        opened.stream.end();

        script.request();
        assertThat(request.body.toByteArray()).isEqualTo(framed("fine"));
    }

    // Stream ends

    @Test
    void failedCallResetsItsStream() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();

        opened.pending.fail(RpcException.refusal(StatusCode.CANCELLED, "on purpose", Executed.MAYBE));

        Frame reset = script.next(Http2Script.RST_STREAM);
        assertThat(reset.payload()).isEqualTo(Http2Script.fourBytes((int) Http2Error.CANCEL.code()));
        assertThat(opened.next(RpcException.class)).hasMessageContaining("on purpose");
    }

    @Test
    void deadlineEndsAStream() {
        ClientConnection connection = requests.connect(server.endpoint());
        Opened opened = requests.open(connection, requests.call(method("both"), Duration.ofSeconds(2)));
        Http2Script script = Http2Script.accept(server);
        script.begun();

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        script.next(Http2Script.RST_STREAM);
    }

    @Test
    void serverThatAnswersEarlyGetsNoMoreRequests() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();

        script.end(3, ":status", "200", "content-type", "application/grpc", "grpc-status", "8");

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
        opened.stream.send(bytes("late"));
        opened.stream.end();
        ping(script);
    }

    /**
     * Tests a stream that ends while some requests are waiting for the flow-control window. The answer must still be
     * delivered.
     */
    @Test
    void unrequestedAnswerSurvivesRequestsThatCannotBeSent() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 10);
        opened.stream.send(new byte[100]);
        script.next(Http2Script.DATA);

        script.head(3, OK).data(3, framed("a")).end(3, "grpc-status", "10", "grpc-message", "enough");
        ping(script);
        opened.stream.request(5);

        opened.next(Metadata.class);
        assertThat(text(opened.next(byte[].class))).isEqualTo("a");
        RpcException failure = opened.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.ABORTED);
        assertThat(failure.status().description()).isEqualTo("enough");
    }

    /**
     * Tests that undelivered answers are released if a cancellation and a request for more messages occur together. The
     * leak check of this module detects answers that are not released.
     */
    @Test
    void undeliveredAnswersAreReleasedWhenACancelRacesWithARequest() {
        Opened opened = open("down", (Object) bytes("x"));
        opened.stream.request(1);
        Http2Script script = Http2Script.accept(server);
        script.request();
        ByteArrayOutputStream three = new ByteArrayOutputStream();
        three.writeBytes(framed("a"));
        three.writeBytes(framed("b"));
        three.writeBytes(framed("c"));
        script.head(3, OK).data(3, three.toByteArray()).end(3, "grpc-status", "0");
        opened.next(Metadata.class);
        assertThat(text(opened.next())).isEqualTo("a");
        ping(script);

        requests.onEventLoop(
                // this task occupies the event loop, so the call ends before the event loop processes the request for
                // more messages
                handler -> {
                    opened.stream.request(1);
                    opened.pending.fail(RpcException.refusal(StatusCode.CANCELLED, "on purpose", Executed.MAYBE));
                });

        assertThat(opened.next(RpcException.class)).hasMessageContaining("on purpose");
    }

    @Test
    void resetByTheServerEndsTheStreamAtOnce() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();
        script.head(3, OK).data(3, framed("unread"));
        opened.next(Metadata.class);

        script.reset(3, 8);

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.CANCELLED);
        ping(script); // the next frame is the acknowledgement, so the client did not answer the reset with a reset
    }

    @Test
    void lostConnectionEndsTheStream() {
        Opened opened = open("both");
        Http2Script script = Http2Script.accept(server);
        script.begun();

        script.close();

        RpcException failure = opened.next(RpcException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        opened.stream.send(bytes("dropped"));
    }

    /** Opens a stream, sends its complete answer and closes the connection, without requesting any messages. */
    private Opened openedAndLost(Duration timeout) {
        Opened opened = requests.open(
                requests.connect(server.endpoint()), requests.call(method("down"), timeout, (Object) bytes("x")));
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.head(3, OK).data(3, framed("a")).data(3, framed("b")).end(3, "grpc-status", "0", "last", "1");
        ping(script);
        opened.next(Metadata.class);
        script.close();
        server.next(); // the client reconnects as soon as it has noticed the lost connection
        return opened;
    }

    @Test
    void completeAnswerIsDeliveredAfterTheConnectionWasLost() {
        Opened opened = openedAndLost(Requests.LONG);

        opened.stream.request(1);
        assertThat(text(opened.next())).isEqualTo("a");
        opened.stream.request(1);

        assertThat(text(opened.next())).isEqualTo("b");
        assertThat(opened.next(Response.class).metadata().get("last")).isEqualTo("1");
    }

    @Test
    void unrequestedAnswerOfALostConnectionEndsAtItsDeadline() {
        Opened opened = openedAndLost(Duration.ofSeconds(5));

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
    }

    @Test
    void closedClientDeliversNoAnswersOfLostConnections() {
        Opened opened = openedAndLost(Requests.LONG);

        requests.closeTransports();

        assertThat(opened.next(RpcException.class).code()).isEqualTo(StatusCode.UNAVAILABLE);
    }

    @Test
    void streamIsNotReadyWhileItWaitsForAFreeStream() {
        ClientConnection connection = requests.connect(server.endpoint());
        requests.open(connection, requests.call(method("both")));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened waiting = requests.open(connection, requests.call(method("both")));
        assertThat(waiting.stream.isReady()).isFalse();

        script.head(3, OK).end(3, "grpc-status", "0");

        assertThat(waiting.next()).isEqualTo("ready");
        assertThat(waiting.stream.isReady()).isTrue();
    }

    /** The stream was ready when its message was sent, because the server had not announced its limit yet. */
    @Test
    void streamWithASentMessageKeepsItsConnection() {
        ClientConnection connection = requests.connect(server.endpoint());
        requests.open(connection, requests.call(method("both")));
        Opened waiting = requests.open(connection, requests.call(method("both")));
        waiting.stream.send(bytes("a"));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened moved = requests.open(connection, requests.call(method("down"), (Object) bytes("b")));
        Http2Script.accept(server);
        moved.next(UnsentCallException.class);

        script.head(3, OK).end(3, "grpc-status", "0");

        assertThat(script.begun().stream).isEqualTo(5);
        assertThat(waiting.pending.isDone()).isFalse();
    }

    @Test
    void streamThatWaitsWhenTheServerGoesAwayWasNotSent() {
        ClientConnection connection = requests.connect(server.endpoint());
        requests.open(connection, requests.call(method("both")));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.begun();
        Opened waiting = requests.open(connection, requests.call(method("both")));
        waiting.stream.send(bytes("a"));
        ping(script);

        script.goAway(3, "");

        UnsentCallException failure = waiting.next(UnsentCallException.class);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }
}
