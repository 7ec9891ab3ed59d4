package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.netty.handler.codec.http2.Http2Error;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tern.rpc.Invocation;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.UnsentCallException;

/** Tests how the Triple client sends requests, and how calls end: by deadline, reset or a lost connection. */
class TripleClientTest extends RawServerCalls {

    /** The number of lost connections in a row that the client replaces without a pause. */
    private static final int REPLACED_AT_ONCE = 2;

    @Test
    void answersInAnyOrderFindTheirCalls() {
        ClientConnection connection = connect();
        List<PendingCall> calls = List.of(send(connection, "a"), send(connection, "b"), send(connection, "c"));

        Http2Script script = Http2Script.accept(server);
        List<Request> received = List.of(script.request(), script.request(), script.request());
        for (int i = 2; i >= 0; i--) {
            script.answer(received.get(i).stream, message(received.get(i)));
        }

        assertThat(received).extracting(request -> request.stream).containsExactly(3, 5, 7);
        assertThat(calls.stream().map(RawServerCalls::answer)).containsExactly("a", "b", "c");
        assertThat(connection.inFlight()).isZero();
    }

    @Test
    void connectionBeginsWithOurSettings() {
        send(connect(), "a");

        Http2Script script = Http2Script.acceptOnly(server);
        Frame settings = script.next();
        Frame window = script.next();

        assertThat(settings.type()).isEqualTo(Http2Script.SETTINGS);
        assertThat(settings.payload()).isEqualTo(Http2Script.settings(2, 0, 4, 1 << 20, 6, 32 << 10));
        assertThat(window).hasToString("type 8 flags 0 stream 0 " + hex((8 << 20) - 65_535));
    }

    /** The requests must contain the looked-up host name, because a proxy chooses the server by this name. */
    @Test
    void requestNamesTheHostThatWasLookedUp() {
        send(requests.connect(new Endpoint("127.0.0.1", server.port(), "orders.internal")), "1");

        Request request = Http2Script.accept(server).request();

        assertThat(request.header(":authority")).isEqualTo("orders.internal:" + server.port());
    }

    @Test
    void requestOfManyMegabytesWaitsForCredit() {
        byte[] large = new byte[300_000];
        large[299_999] = 7;
        ClientConnection connection = connect();
        PendingCall pending = Requests.send(connection, requests.call(CALL, (Object) large));
        Http2Script script = Http2Script.accept(server, Http2Script.INITIAL_WINDOW_SIZE, 70_000);

        int received = 0;
        List<Frame> frames = new ArrayList<>();
        while (received < 65_535) {
            Frame frame = script.next();
            if (frame.type() == Http2Script.DATA) {
                received += frame.payload().length;
                frames.add(frame);
            }
        }
        assertThat(received).as("all that the connection's window allows").isEqualTo(65_535);
        script.send(Http2Script.PING, 0, 0, new byte[8]);
        assertThat(script.next(Http2Script.PING).flags())
                .as("nothing more came before it")
                .isEqualTo(Http2Script.ACK);
        assertThat(connection.queuedBytes()).isBetween(200_000L, 310_000L);
        script.credit(0, 1 << 20).credit(3, 1 << 20);
        Request request = script.request();
        script.answer(3, bytes("done"));

        assertThat(message(request)).isEqualTo(large);
        assertThat(answer(pending)).isEqualTo("done");
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
    }

    @Test
    void nothingIsSentBeforeTheServersSettingsAreKnown() {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "1");
        Http2Script script = Http2Script.acceptOnly(server);
        script.next(Http2Script.WINDOW_UPDATE);
        assertThat(pending.wasSent()).isFalse();

        script.send(Http2Script.SETTINGS, 0, 0, Http2Script.settings(Http2Script.MAX_CONCURRENT_STREAMS, 1));

        assertThat(script.next().type()).as("an acknowledgement comes first").isEqualTo(Http2Script.SETTINGS);
        script.answer(script.request().stream, bytes("one"));
        assertThat(answer(pending)).isEqualTo("one");
    }

    @Test
    void callsAboveTheServersLimitWaitInOrder() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 2);
        assertThat(message(script.request())).asString().isEqualTo("1");
        List<PendingCall> others = List.of(send(connection, "2"), send(connection, "3"), send(connection, "4"));

        assertThat(message(script.request())).asString().isEqualTo("2");
        script.send(Http2Script.PING, 0, 0, new byte[8]);
        assertThat(script.next(Http2Script.PING).flags())
                .as("no further request came before it")
                .isEqualTo(Http2Script.ACK);
        assertThat(connection.queuedBytes()).isPositive();
        script.answer(5, bytes("two"));
        Request third = script.request();
        assertThat(message(third)).asString().isEqualTo("3");
        script.answer(3, bytes("one"));
        assertThat(message(script.request())).asString().isEqualTo("4");
        script.answer(7, bytes("three"));
        script.answer(9, bytes("four"));

        assertThat(answer(first)).isEqualTo("one");
        assertThat(others.stream().map(RawServerCalls::answer)).containsExactly("two", "three", "four");
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
    }

    /**
     * Sends a call that uses the only stream of the connection, and returns the server, which has not answered the
     * call.
     */
    private Http2Script occupied(ClientConnection connection) {
        send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        assertThat(message(script.request())).asString().isEqualTo("1");
        return script;
    }

    private static void answerNext(Http2Script script, String expected) {
        Request request = script.request();
        assertThat(message(request)).asString().isEqualTo(expected);
        script.answer(request.stream, bytes("answer " + expected));
    }

    @Test
    void callsThatWaitUseAFurtherConnection() {
        ClientConnection connection = connect();
        occupied(connection);
        PendingCall second = send(connection, "2");
        Http2Script further = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        answerNext(further, "2");
        assertThat(answer(second)).isEqualTo("answer 2");

        PendingCall third = send(connection, "3");

        answerNext(further, "3");
        assertThat(answer(third)).isEqualTo("answer 3");
    }

    @Test
    void callsThatWereSentBeforeTheServerAnnouncedItsLimitUseAFurtherConnection() {
        ClientConnection connection = connect();
        send(connection, "1");
        PendingCall second = send(connection, "2");
        Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1).request();

        answerNext(Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1), "2");

        assertThat(answer(second)).isEqualTo("answer 2");
    }

    @Test
    void callsThatWaitForOneWayCallsUseAFurtherConnection() {
        ClientConnection connection = connect();
        Invocation call = requests.call(CALL, (Object) bytes("one-way"));
        connection.send(new PendingCall(call, true, System.nanoTime(), null));
        connection.send(new PendingCall(call, true, System.nanoTime(), null));
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 2);
        script.request();
        script.request();
        PendingCall third = send(connection, "3");

        answerNext(Http2Script.accept(server), "3");

        assertThat(answer(third)).isEqualTo("answer 3");
    }

    @Test
    void furtherConnectionIsClosedWhenItIsNoLongerNeeded() {
        ClientConnection connection =
                requests.connect(server.endpoint(), settings -> settings.withHeartbeat(Duration.ofSeconds(1)));
        occupied(connection);
        PendingCall second = send(connection, "2");
        Http2Script further = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);

        answerNext(further, "2");

        assertThat(answer(second)).isEqualTo("answer 2");
        further.next(Http2Script.GOAWAY);
    }

    @Test
    void callThatEndsWhileItWaitsIsNeverSent() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.request();
        PendingCall second = send(connection, "2");
        PendingCall third = send(connection, "3");

        second.fail(RpcException.refusal(StatusCode.CANCELLED, "on purpose", Executed.NO));
        script.answer(3, bytes("one"));

        assertThat(message(script.request())).asString().isEqualTo("3");
        script.answer(5, bytes("three"));
        assertThat(answer(first)).isEqualTo("one");
        assertThat(answer(third)).isEqualTo("three");
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
    }

    @Test
    void compressedRequestAndAnswerAreUnderstood() {
        ClientConnection connection = connect();
        byte[] text = bytes("x".repeat(10_000));
        Invocation call = requests.call(CALL, (Object) text).withCompression(true);
        PendingCall pending = Requests.send(connection, call);
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        byte[] body = request.body.toByteArray();
        OutputBuffer out = new OutputBuffer();
        new Gzip().decompress(body, 5, body.length - 5, out);
        script.head(3, ":status", "200", "content-type", "application/grpc+proto", "grpc-encoding", "gzip");
        script.data(3, body);
        script.end(3, "grpc-status", "0");

        assertThat(request.header("grpc-encoding")).isEqualTo("gzip");
        assertThat(body).hasSizeLessThan(200);
        assertThat(body[0]).isEqualTo((byte) 1);
        assertThat(out.toByteArray()).isEqualTo(text);
        assertThat(answer(pending)).hasSize(10_000);
    }

    @Test
    void oneWayCallEndsWhenItIsWritten() {
        ClientConnection connection = connect();
        PendingCall pending = new PendingCall(requests.call(CALL, (Object) bytes("x")), true, System.nanoTime(), null);
        connection.send(pending);
        Http2Script script = Http2Script.accept(server);

        assertThat(message(script.request())).asString().isEqualTo("x");
        assertThat(catchThrowable(pending::await)).isNull();
        script.answer(3, bytes("ignored"));
        PendingCall next = send(connection, "y");
        script.answer(script.request().stream, bytes("heard"));

        assertThat(answer(next)).isEqualTo("heard");
        assertThat(connection.lateAnswers()).isZero();
    }

    private PendingCall sendOneWay(ClientConnection connection) {
        PendingCall pending = new PendingCall(requests.call(CALL, (Object) bytes("x")), true, System.nanoTime(), null);
        connection.send(pending);
        return pending;
    }

    @Test
    void headerMarksAOneWayCall() {
        ClientConnection connection = connect();
        sendOneWay(connection);
        send(connection, "y");
        Http2Script script = Http2Script.accept(server);

        // the two requests can be complete in either order
        assertThat(List.of(script.request(), script.request()))
                .extracting(request -> new String(message(request), UTF_8) + request.header("tern-one-way"))
                .containsExactlyInAnyOrder("xyes", "y");
    }

    @Test
    void oneWayCallIsNotCancelledByTheBeginningOfItsAnswer() {
        ClientConnection connection = connect();
        PendingCall pending = sendOneWay(connection);
        Http2Script script = Http2Script.accept(server);
        int stream = script.request().stream;
        assertThat(catchThrowable(pending::await)).isNull();

        script.head(stream, OK);
        PendingCall next = send(connection, "y");

        Frame frame = script.next();
        while (frame.type() != Http2Script.HEADERS) {
            assertThat(frame.type()).isNotEqualTo(Http2Script.RST_STREAM);
            frame = script.next();
        }
        Request request = script.request();
        script.data(stream, Http2Script.framed(0, bytes("ignored")));
        script.end(stream, "grpc-status", "0");
        script.answer(request.stream, bytes("heard"));
        assertThat(answer(next)).isEqualTo("heard");
    }

    @Test
    void drainingConnectionIsClosedAfterItsOneWayCallsHaveEnded() {
        ClientConnection connection = connect();
        PendingCall pending = sendOneWay(connection);
        Http2Script script = Http2Script.accept(server);
        int stream = script.request().stream;
        assertThat(catchThrowable(pending::await)).isNull();

        script.goAway(stream, "bye");
        script.send(Http2Script.PING, 0, 0, new byte[8]);
        assertThat(script.next(Http2Script.PING).flags())
                .as("the connection is still open")
                .isEqualTo(Http2Script.ACK);
        script.answer(stream, bytes("ignored"));

        assertThat(script.isClosedByPeer()).isTrue();
    }

    @Test
    void headersThatTheServerDoesNotTakeAreNotSent() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_HEADER_LIST_SIZE, 1_000);
        script.request();
        Invocation call = requests.call(CALL, (Object) bytes("x"));
        call.metadata().put("large", "v".repeat(2_000));

        assertFailed(
                Requests.send(connection, call),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.NO,
                "headers cannot be sent: Header",
                "Service/call");

        script.answer(3, bytes("fine"));
        assertThat(answer(first)).isEqualTo("fine");
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
    }

    @Test
    void requestAboveTheLimitIsNotSent() {
        ClientConnection connection =
                requests.connect(server.endpoint(), settings -> settings.withMaxMessageBytes(1_000));

        assertFailed(
                Requests.send(connection, requests.call(CALL, (Object) new byte[1_001])),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.NO,
                "rpc.limits.max-request");
        assertThat(connection.inFlight()).isZero();
    }

    @Test
    void deadlineResetsTheStream() {
        ClientConnection connection = connect();
        PendingCall pending =
                Requests.send(connection, requests.call(CALL, Duration.ofSeconds(2), (Object) bytes("x")));
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        Frame reset = script.next(Http2Script.RST_STREAM);

        assertThat(GrpcTimeout.parseNanos(request.header("grpc-timeout"))).isBetween(1L, 2_000_000_000L);
        assertThat(reset.stream()).isEqualTo(3);
        assertThat(reset.payload()).isEqualTo(Http2Script.fourBytes((int) Http2Error.CANCEL.code()));
        assertFailed(pending, StatusCode.DEADLINE_EXCEEDED, Executed.MAYBE, "no answer from " + server.endpoint());
        script.answer(3, bytes("late"));
        PendingCall next = send(connection, "y");
        script.answer(script.request().stream, bytes("next"));
        assertThat(answer(next)).isEqualTo("next");
    }

    @Test
    void answeredCallMayHaveRunEvenIfItsStreamIsRefused() {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        int stream = script.request().stream;
        script.head(stream, ":status", "200", "content-type", "application/grpc");

        script.reset(stream, 7);

        assertFailed(pending, StatusCode.UNAVAILABLE, Executed.MAYBE, "HTTP/2 error 7");
    }

    @ParameterizedTest
    @CsvSource({
        "7, UNAVAILABLE, NO",
        "8, CANCELLED, MAYBE",
        "11, RESOURCE_EXHAUSTED, MAYBE",
        "12, PERMISSION_DENIED, MAYBE",
        "2, INTERNAL, MAYBE"
    })
    void resetEndsTheCallByItsCode(int error, StatusCode code, Executed executed) {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);

        script.reset(script.request().stream, error);

        assertFailed(pending, code, executed, "HTTP/2 error " + error);
        PendingCall next = send(connection, "y");
        Request request = script.request();
        assertThat(request.stream).isEqualTo(5);
        script.answer(5, bytes("still open"));
        assertThat(answer(next)).isEqualTo("still open");
    }

    @Test
    void connectionThatIsGoneLeavesOpenWhetherTheCallRan() {
        PendingCall pending = send(connect(), "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.close();

        assertFailed(pending, StatusCode.UNAVAILABLE, Executed.MAYBE, "closed by the server");
    }

    @Test
    void streamsThatTheServerDidNotSeeAreAttemptedAgain() {
        ClientConnection connection = connect();
        List<PendingCall> calls = List.of(send(connection, "a"), send(connection, "b"));
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.request();

        script.goAway(3, "bye");

        assertFailed(calls.get(1), StatusCode.UNAVAILABLE, Executed.NO, "before it processed the call");
        assertThat(failure(calls.get(1))).isInstanceOf(UnsentCallException.class);
        script.answer(3, bytes("seen"));
        assertThat(answer(calls.get(0))).isEqualTo("seen");
        assertThat(script.isClosedByPeer()).isTrue();
    }

    @Test
    void errorOfTheConnectionCountsAsAFailureOfItsServer() {
        PendingCall call = send(connect(), "a");
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.send(
                Http2Script.GOAWAY, 0, 0, new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) Http2Error.ENHANCE_YOUR_CALM.code()});

        assertFailed(call, StatusCode.UNAVAILABLE, Executed.NO, "before it processed the call");
        assertThat(failure(call)).isNotInstanceOf(UnsentCallException.class);
    }

    @Test
    void callsThatWaitedMoveToTheNextConnection() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.request();
        PendingCall second = send(connection, "2");
        script.send(Http2Script.PING, 0, 0, new byte[8]).next(Http2Script.PING);

        script.goAway(Integer.MAX_VALUE, "app_requested");

        Http2Script other = Http2Script.accept(server);
        Request moved = other.request();
        assertThat(message(moved)).asString().isEqualTo("2");
        other.answer(moved.stream, bytes("two"));
        assertThat(answer(second)).isEqualTo("two");
        script.answer(3, bytes("one"));
        assertThat(answer(first)).isEqualTo("one");
    }

    @Test
    void callThatIsQueuedWhileTheServerGoesAwayDoesNotWaitForTheCallsBeforeIt() {
        try (EmbeddedConnection connection = new EmbeddedConnection(requests.protocol())) {
            byte[] oneStream = Http2Script.settings(Http2Script.MAX_CONCURRENT_STREAMS, 1);
            connection.send(new Frame(Http2Script.SETTINGS, 0, 0, oneStream).bytes());
            PendingCall first = pending("1");
            connection.call(first);
            PendingCall second = pending("2");
            connection.callAfterTheNextBytes(second);

            byte[] lastStreamAndError = {127, -1, -1, -1, 0, 0, 0, 0};
            connection.send(new Frame(Http2Script.GOAWAY, 0, 0, lastStreamAndError).bytes());

            assertThat(first.isDone()).isFalse();
            assertThat(second.isDone()).isTrue();
            assertFailed(second, StatusCode.UNAVAILABLE, Executed.NO, "the server takes no new calls");
        }
    }

    private PendingCall pending(String message) {
        return new PendingCall(requests.call(CALL, (Object) bytes(message)), false, System.nanoTime(), null);
    }

    /**
     * After several lost connections, the client pauses before the next connection attempt. The pause is longer than
     * this test.
     */
    @Test
    void drainingConnectionThatWaitsForItsReplacementIsNotAvailable() {
        ClientConnection connection = requests.connect(server.endpoint(), TripleClientTest::withLongPauses);
        Http2Script script = Http2Script.accept(server);
        for (int i = 0; i < REPLACED_AT_ONCE; i++) {
            send(connection, "lost");
            script.goAway(script.request().stream, "");
            script = Http2Script.accept(server);
        }
        PendingCall pending = send(connection, "last");
        Request request = script.request();
        Await.until("the connection is available", connection::isAvailable);

        script.goAway(request.stream, "");

        Await.until("the connection is not available", () -> !connection.isAvailable());
        assertThat(pending.isDone()).isFalse();
        script.answer(request.stream, bytes("answer"));
        assertThat(answer(pending)).isEqualTo("answer");
    }

    private static ClientTransportSettings withLongPauses(ClientTransportSettings settings) {
        return settings.withReconnect(Duration.ofDays(1), Duration.ofDays(1));
    }

    @Test
    void pingIsAnswered() {
        send(connect(), "x");
        Http2Script script = Http2Script.accept(server);
        byte[] data = {1, 2, 3, 4, 5, 6, 7, 8};

        script.send(Http2Script.PING, 0, 0, data);

        Frame answer = script.next(Http2Script.PING);
        assertThat(answer.flags()).isEqualTo(Http2Script.ACK);
        assertThat(answer.payload()).isEqualTo(data);
    }

    private static ClientTransportSettings impatient(ClientTransportSettings settings, Duration timeout) {
        return settings.withHeartbeat(Duration.ofMillis(50)).withProbe(Duration.ofMillis(50), timeout);
    }

    @Test
    void silentServerGetsAPing() {
        ClientConnection connection =
                requests.connect(server.endpoint(), settings -> impatient(settings, Duration.ofSeconds(20)));
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        Request request = script.request();

        Frame ping = script.next(Http2Script.PING);
        script.send(Http2Script.PING, Http2Script.ACK, 0, ping.payload());
        script.answer(request.stream, bytes("alive"));

        assertThat(ping.flags()).isZero();
        assertThat(answer(pending)).isEqualTo("alive");
    }

    @Test
    void serverWithoutAPingAnswerIsDisconnected() {
        ClientConnection connection =
                requests.connect(server.endpoint(), settings -> impatient(settings, Duration.ofSeconds(2)));
        PendingCall pending = send(connection, "x");
        Http2Script.accept(server).request();

        assertFailed(pending, StatusCode.UNAVAILABLE, Executed.MAYBE, "nothing was received for");
    }

    @Test
    void connectionWithoutIdsIsReplaced() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server);
        script.answer(script.request().stream, bytes("one"));
        assertThat(answer(first)).isEqualTo("one");
        requests.onEventLoop(handler -> handler.connection()
                .local()
                .createStream(Integer.MAX_VALUE - 2, true)
                .close());

        PendingCall last = send(connection, "2");
        Request request = script.request();
        assertThat(request.stream).isEqualTo(Integer.MAX_VALUE);
        PendingCall next = send(connection, "3");
        Http2Script other = Http2Script.accept(server);
        other.answer(other.request().stream, bytes("three"));
        script.answer(request.stream, bytes("two"));

        assertThat(answer(next)).isEqualTo("three");
        assertThat(answer(last)).isEqualTo("two");
        assertThat(script.isClosedByPeer()).isTrue();
    }
}
