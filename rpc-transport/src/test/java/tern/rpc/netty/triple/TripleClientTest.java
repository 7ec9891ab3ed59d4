package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.netty.handler.codec.http2.Http2Error;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** Tests unary calls against a scripted server. */
@Timeout(60)
class TripleClientTest {

    private static final MethodDescriptor CALL = ServiceDescriptor.of(
                    "raw.Service",
                    List.of(new ServiceDescriptor.Operation("call", MethodType.UNARY, byte[].class, byte[].class)))
            .overloads("call")
            .get(0);

    private static final int PADDED = 8;

    private static final String[] OK = {":status", "200", "content-type", "application/grpc"};

    private final Requests requests = new Requests();
    private final RawServer server = RawServer.start();

    @AfterEach
    void close() {
        requests.close();
        server.close();
    }

    private ClientConnection connect() {
        return requests.connect(server.endpoint());
    }

    private PendingCall send(ClientConnection connection, String message) {
        return Requests.send(connection, requests.call(CALL, (Object) message.getBytes(UTF_8)));
    }

    private static String answer(PendingCall pending) {
        try {
            Response response = pending.await();
            return new String((byte[]) response.value(), UTF_8);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static RpcException failure(PendingCall pending) {
        Throwable thrown = catchThrowable(pending::await);
        assertThat(thrown).isInstanceOf(RpcException.class);
        return (RpcException) thrown;
    }

    private static void assertFailed(PendingCall pending, StatusCode code, Executed executed, String... texts) {
        RpcException failure = failure(pending);
        assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(executed);
        assertThat(failure).hasMessageContainingAll(texts);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static byte[] message(Request request) {
        byte[] body = request.body.toByteArray();
        assertThat(ByteBuffer.wrap(body).getInt(1)).isEqualTo(body.length - 5);
        return Arrays.copyOfRange(body, 5, body.length);
    }

    // Requests

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
        assertThat(calls.stream().map(TripleClientTest::answer)).containsExactly("a", "b", "c");
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

    private static String hex(int value) {
        return HexFormat.of().toHexDigits(value);
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
        assertThat(others.stream().map(TripleClientTest::answer)).containsExactly("two", "three", "four");
        Await.until("all bytes have left", () -> connection.queuedBytes() == 0);
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
        ClientConnection connection = requests.connect(server.endpoint(), settings -> limited(settings, 1_000));

        assertFailed(
                Requests.send(connection, requests.call(CALL, (Object) new byte[1_001])),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.NO,
                "rpc.limits.max-request");
        assertThat(connection.inFlight()).isZero();
    }

    private static ClientTransportSettings limited(ClientTransportSettings settings, int maxMessageBytes) {
        return new ClientTransportSettings(
                settings.application(),
                settings.connectTimeout(),
                settings.reconnectMin(),
                settings.reconnectMax(),
                settings.heartbeat(),
                settings.probeAfter(),
                settings.probeTimeout(),
                settings.maxInFlight(),
                settings.maxQueuedBytes(),
                maxMessageBytes);
    }

    // Ends of calls

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
    void streamsThatTheServerDidNotSeeWereNotExecuted() {
        ClientConnection connection = connect();
        List<PendingCall> calls = List.of(send(connection, "a"), send(connection, "b"));
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.request();

        script.goAway(3, 0, "bye");

        assertFailed(calls.get(1), StatusCode.UNAVAILABLE, Executed.NO, "before it saw the call");
        script.answer(3, bytes("seen"));
        assertThat(answer(calls.get(0))).isEqualTo("seen");
        assertThat(script.isClosedByPeer()).isTrue();
    }

    @Test
    void callsThatWaitedMoveToTheNextConnection() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 1);
        script.request();
        PendingCall second = send(connection, "2");
        script.send(Http2Script.PING, 0, 0, new byte[8]).next(Http2Script.PING);

        script.goAway(Integer.MAX_VALUE, 0, "app_requested");

        Http2Script other = Http2Script.accept(server);
        Request moved = other.request();
        assertThat(message(moved)).asString().isEqualTo("2");
        other.answer(moved.stream, bytes("two"));
        assertThat(answer(second)).isEqualTo("two");
        script.answer(3, bytes("one"));
        assertThat(answer(first)).isEqualTo("one");
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
        return new ClientTransportSettings(
                settings.application(),
                settings.connectTimeout(),
                settings.reconnectMin(),
                settings.reconnectMax(),
                Duration.ofMillis(50),
                Duration.ofMillis(50),
                timeout,
                settings.maxInFlight(),
                settings.maxQueuedBytes(),
                settings.maxRequestBytes());
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

    // Invalid answers

    /** Checks how the call fails if the server sends the given answer. */
    private void assertAnswer(Consumer<Http2Script> answer, StatusCode code, Executed executed, String... texts) {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        answer.accept(script);

        assertFailed(pending, code, executed, texts);
        PendingCall next = send(connection, "y");
        Request request = script.request();
        script.answer(request.stream, bytes("next"));
        assertThat(answer(next)).as("the connection is as good as before").isEqualTo("next");
    }

    @Test
    void secondMessageIsAMistake() {
        assertAnswer(
                script -> {
                    script.head(3, OK).data(3, Http2Script.framed(0, bytes("a")));
                    script.data(3, Http2Script.framed(0, bytes("b"))).end(3, "grpc-status", "0");
                },
                StatusCode.INTERNAL,
                Executed.YES,
                "more than one message");
    }

    @Test
    void successWithoutAMessageIsAMistakeWhereAMessageIsNeeded() {
        assertAnswer(
                script -> script.head(3, OK).end(3, "grpc-status", "0"),
                StatusCode.INTERNAL,
                Executed.YES,
                "no message");
    }

    @Test
    void messageThatIsCutOffIsAMistake() {
        assertAnswer(
                script -> script.head(3, OK)
                        .data(3, new byte[] {0, 0, 0, 0, 9, 1})
                        .end(3, "grpc-status", "0"),
                StatusCode.INTERNAL,
                Executed.YES,
                "in the middle of a message");
    }

    @Test
    void statusCountsMoreThanAMessageThatIsCutOff() {
        assertAnswer(
                script -> script.head(3, OK)
                        .data(3, new byte[] {0, 0, 0, 0, 9, 1})
                        .end(3, "grpc-status", "5", "grpc-message", "gone"),
                StatusCode.NOT_FOUND,
                Executed.MAYBE,
                "gone");
    }

    @Test
    void endWithoutTrailersIsAMistake() {
        assertAnswer(
                script -> script.head(3, OK)
                        .send(Http2Script.DATA, Http2Script.END_STREAM, 3, Http2Script.framed(0, bytes("a"))),
                StatusCode.UNKNOWN,
                Executed.MAYBE,
                "without grpc-status");
    }

    @Test
    void answerOfAWebServerIsReportedWithItsStatus() {
        assertAnswer(
                script -> script.head(3, ":status", "404", "content-type", "text/html")
                        .send(Http2Script.DATA, Http2Script.END_STREAM, 3, bytes("<html>nothing here")),
                StatusCode.UNIMPLEMENTED,
                Executed.MAYBE,
                " at 127.0.0.1:",
                "HTTP status 404",
                "text/html",
                "is the address that of an RPC server?");
    }

    @Test
    void successInAForeignFormIsAMistake() {
        assertAnswer(
                script -> script.head(3, ":status", "200", "content-type", "application/json")
                        .data(3, bytes("{}"))
                        .end(3, "grpc-status", "0"),
                StatusCode.INTERNAL,
                Executed.YES,
                "application/json");
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/grpc-web+proto", "application/grpcfoo", "application/grp"})
    void mediaTypeThatOnlyBeginsLikeGrpcIsNotGrpc(String type) {
        assertAnswer(
                script -> script.head(3, ":status", "200", "content-type", type)
                        .data(3, Http2Script.framed(0, bytes("a")))
                        .end(3, "grpc-status", "0"),
                StatusCode.INTERNAL,
                Executed.YES,
                type);
    }

    @ParameterizedTest
    @CsvSource({"99, x, 'x; grpc-status is ''99'', which is no'", "none, , 'grpc-status is ''none'', which is no'"})
    void statusThatIsNoStatusCodeIsNamed(String status, @Nullable String message, String text) {
        String[] trailers = message == null
                ? new String[] {"grpc-status", status}
                : new String[] {"grpc-status", status, "grpc-message", message};
        assertAnswer(script -> script.head(3, OK).end(3, trailers), StatusCode.UNKNOWN, Executed.MAYBE, text);
    }

    @Test
    void statusForAMethodThatDidNotRunIsTrusted() {
        assertAnswer(
                script -> script.end(
                        3,
                        ":status",
                        "200",
                        "content-type",
                        "application/grpc",
                        "grpc-status",
                        "8",
                        "grpc-message",
                        "full",
                        "tern-executed",
                        "no"),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.NO,
                "full");
    }

    @Test
    void encodingThatWasNotOfferedIsAMistake() {
        assertAnswer(
                script ->
                        script.head(3, ":status", "200", "content-type", "application/grpc", "grpc-encoding", "snappy"),
                StatusCode.INTERNAL,
                Executed.YES,
                "snappy");
    }

    @Test
    void compressedMessageWithoutEncodingIsAMistake() {
        assertAnswer(
                script -> script.head(3, OK).data(3, Http2Script.framed(1, bytes("a"))),
                StatusCode.INTERNAL,
                Executed.YES,
                "marked as compressed");
    }

    @Test
    void flagsThatDoNotExistAreAMistake() {
        assertAnswer(
                script -> script.head(3, OK).data(3, Http2Script.framed(0x80, bytes("a"))),
                StatusCode.INTERNAL,
                Executed.YES,
                "0x80");
    }

    @Test
    void messageAboveTheLimitIsRefusedByItsPrefix() {
        assertAnswer(
                script -> script.head(3, OK).data(3, new byte[] {0, 1, 0, 0, 0}),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.YES,
                "16777216",
                "8388608",
                "rpc.limits.max-response");
    }

    @Test
    void messageAboveTheLimitAfterDecompressionIsRefused() {
        byte[] zeros = new byte[9 << 20];
        OutputBuffer bomb = new OutputBuffer();
        new Gzip().compress(zeros, 0, zeros.length, bomb);
        assertAnswer(
                script -> script.head(3, ":status", "200", "content-type", "application/grpc", "grpc-encoding", "gzip")
                        .data(3, Http2Script.framed(1, bomb.toByteArray()))
                        .end(3, "grpc-status", "0"),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.YES,
                "rpc.limits.max-response");
    }

    @Test
    void dataBeforeHeadersIsAMistake() {
        assertAnswer(
                script -> script.data(3, Http2Script.framed(0, bytes("a"))),
                StatusCode.INTERNAL,
                Executed.YES,
                "instead of headers");
    }

    @Test
    void tooManyHeaderFieldsAreRefused() {
        List<String> fields = new ArrayList<>(List.of(OK));
        for (int i = 0; i < 130; i++) {
            fields.add("n" + i);
            fields.add("v");
        }
        assertAnswer(
                script -> script.head(3, fields.toArray(String[]::new)),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.YES,
                "128");
    }

    @Test
    void headersLargerThanWeTakeAreRefused() {
        assertAnswer(
                script -> sendInPieces(script, Http2Script.block(":status", "200", "a", "x".repeat(33_000))),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.YES,
                "rules of HTTP/2");
    }

    private static void sendInPieces(Http2Script script, byte[] block) {
        for (int done = 0; done < block.length; done += 16_000) {
            int end = Math.min(block.length, done + 16_000);
            script.send(
                    done == 0 ? Http2Script.HEADERS : Http2Script.CONTINUATION,
                    end == block.length ? Http2Script.END_HEADERS : 0,
                    3,
                    Arrays.copyOfRange(block, done, end));
        }
    }

    @Test
    void interimAnswersArePassedOver() {
        PendingCall pending = send(connect(), "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.head(3, ":status", "103", "link", "x");
        script.answer(3, bytes("real"));

        assertThat(answer(pending)).isEqualTo("real");
    }

    @Test
    void largeAnswerComesBecauseItsBytesAreCredited() {
        byte[] large = new byte[3 << 20];
        large[large.length - 1] = 7;
        PendingCall pending = send(connect(), "x");
        Http2Script script = Http2Script.accept(server);
        script.request();
        byte[] body = Http2Script.framed(0, large);
        script.head(3, OK);

        int window = 1 << 20;
        int connectionWindow = 8 << 20;
        for (int sent = 0; sent < body.length; ) {
            int piece = Math.min(Math.min(16 << 10, body.length - sent), Math.min(window, connectionWindow));
            if (piece == 0) {
                Frame credit = script.next(Http2Script.WINDOW_UPDATE);
                int bytes = ByteBuffer.wrap(credit.payload()).getInt();
                if (credit.stream() == 0) {
                    connectionWindow += bytes;
                } else {
                    window += bytes;
                }
            } else {
                script.send(Http2Script.DATA, 0, 3, Arrays.copyOfRange(body, sent, sent + piece));
                sent += piece;
                window -= piece;
                connectionWindow -= piece;
            }
        }
        script.end(3, "grpc-status", "0");

        Response response = response(pending);
        assertThat((byte[]) response.value()).isEqualTo(large);
    }

    private static Response response(PendingCall pending) {
        try {
            return pending.await();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    // Servers that violate the connection's protocol

    /**
     * Checks that the client closes the connection when it receives the given frames, and that the pending call fails.
     */
    private void assertCutOff(Consumer<Http2Script> deed, String... reason) {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        try {
            deed.accept(script);
        } catch (UncheckedIOException closed) {
            // the client disconnected before the server had sent all the frames, as expected
        }

        assertFailed(pending, StatusCode.UNAVAILABLE, Executed.MAYBE, reason);
        assertThat(script.isClosedByPeer()).isTrue();
    }

    @Test
    void floodOfPingsIsCutOff() {
        assertCutOff(
                script -> {
                    for (int i = 0; i < 1_100; i++) {
                        script.send(Http2Script.PING, 0, 0, new byte[8]);
                    }
                },
                "control frames");
    }

    @Test
    void floodOfSettingsIsCutOff() {
        assertCutOff(
                script -> {
                    for (int i = 0; i < 1_100; i++) {
                        script.send(Http2Script.SETTINGS, 0, 0);
                    }
                },
                "control frames");
    }

    @Test
    void floodOfCreditIsCutOff() {
        assertCutOff(
                script -> {
                    for (int i = 0; i < 1_100; i++) {
                        script.credit(0, 1);
                    }
                },
                "control frames");
    }

    @Test
    void floodOfEmptyDataIsCutOff() {
        assertCutOff(
                script -> {
                    script.head(3, OK);
                    for (int i = 0; i < 4; i++) {
                        script.send(Http2Script.DATA, 0, 3);
                    }
                },
                "HTTP/2");
    }

    @Test
    void paddingWithoutEndIsCutOff() {
        assertCutOff(
                script -> {
                    script.head(3, OK);
                    for (int i = 0; i < 4; i++) {
                        script.send(Http2Script.DATA, PADDED, 3, new byte[] {2, 0, 0});
                    }
                },
                "empty");
    }

    @Test
    void floodOfUnknownFramesIsCutOff() {
        assertCutOff(
                script -> {
                    for (int i = 0; i < 1_100; i++) {
                        script.send(0x42, 0, 0, new byte[8]);
                    }
                },
                "control frames");
    }

    @Test
    void floodOfGoAwayIsCutOff() {
        byte[] everyStream = {0x7f, -1, -1, -1, 0, 0, 0, 0};
        assertCutOff(
                script -> {
                    for (int i = 0; i < 1_100; i++) {
                        script.send(Http2Script.GOAWAY, 0, 0, everyStream);
                    }
                },
                "control frames");
    }

    @Test
    void interimAnswersWithoutEndFailTheCall() {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        for (int i = 0; i < 17; i++) {
            script.head(3, ":status", "103");
        }

        assertFailed(pending, StatusCode.INTERNAL, Executed.MAYBE, "more than 16 interim answers (1xx)");
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {Http2Script.HEADERS, Http2Script.DATA, Http2Script.RST_STREAM, Http2Script.WINDOW_UPDATE})
    void framesWithoutEndOnAStreamThatHasEndedAreCutOff(int type) {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.answer(script.request().stream, bytes("real"));
        assertThat(answer(pending)).isEqualTo("real");
        byte[] payload = type == Http2Script.HEADERS ? Http2Script.block(OK) : new byte[] {0, 0, 0, 1};
        int flags = type == Http2Script.HEADERS ? Http2Script.END_HEADERS : 0;

        for (int i = 0; i < Http2Limits.MAX_FRAMES_IN_VAIN; i++) {
            script.send(type, flags, 3, payload);
        }
        PendingCall next = send(connection, "y");
        script.answer(script.request().stream, bytes("real"));
        assertThat(answer(next)).isEqualTo("real");

        try {
            for (int i = 0; i < 4 * 64; i++) {
                script.send(type, flags, 3, payload);
            }
        } catch (UncheckedIOException closed) {
            // the client disconnected before the server had sent all the frames, as expected
        }

        Await.until("the connection is closed", () -> !connection.isAvailable());
    }

    @Test
    void floodOfContinuationsIsCutOff() {
        assertCutOff(
                script -> {
                    script.send(Http2Script.HEADERS, 0, 3, Http2Script.block(OK));
                    for (int i = 0; i < 18; i++) {
                        script.send(Http2Script.CONTINUATION, 0, 3);
                    }
                },
                "HTTP/2");
    }

    @Test
    void headersOfFarTooManyBytesAreCutOff() {
        assertCutOff(
                script -> sendInPieces(script, Http2Script.block(":status", "200", "a", "x".repeat(120_000))),
                "HTTP/2");
    }

    @Test
    void floodOfResetsIsCutOff() {
        ClientConnection connection = connect();
        send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.reset(script.request().stream, 2);
        List<PendingCall> calls = new ArrayList<>();
        for (int i = 0; i < 210; i++) {
            calls.add(send(connection, "x"));
            try {
                script.reset(script.request().stream, 2);
            } catch (UncheckedIOException cutOff) {
                break;
            }
            failure(calls.get(i));
            if (!connection.isAvailable()) {
                break;
            }
        }

        assertThat(script.isClosedByPeer()).isTrue();
        assertThat(calls).hasSizeBetween(195, 205);
    }

    /**
     * Tests a server that cancels each stream with a reset at the call's deadline. The client must not treat these
     * resets as an attack.
     */
    @Test
    void resetsOfAnswersThatHadBegunAreNoFlood() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        for (int i = 0; i < 300; i++) {
            PendingCall call = i == 0 ? first : send(connection, "x");
            int stream = script.request().stream;
            script.head(stream, ":status", "200", "content-type", "application/grpc");
            script.reset(stream, 8);
            assertThat(failure(call).code()).isEqualTo(StatusCode.CANCELLED);
        }

        assertThat(connection.isAvailable()).isTrue();
        send(connection, "y");
        assertThat(script.request().stream).isEqualTo(603);
    }

    @Test
    void serverThatDoesNotSpeakHttp2IsNamed() {
        PendingCall pending = send(connect(), "x");
        RawSocket socket = server.next();

        socket.send("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));

        RpcException failure = failure(pending);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure).hasMessageContainingAll("HTTP/2", "SETTINGS");
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000101040000000288", "000000040000000003", "00000104000000000000", "000000000000000000"})
    void brokenFramesEndTheConnection(String hex) {
        assertCutOff(script -> script.send(HexFormat.of().parseHex(hex)), "HTTP/2");
    }
}
