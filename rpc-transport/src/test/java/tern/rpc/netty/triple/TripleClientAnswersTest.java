package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Response;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** Tests how the Triple client reads answers, most of which are invalid. */
class TripleClientAnswersTest extends RawServerCalls {

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
                "does the address belong to an RPC server?");
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

    private static final String[] SNAPPY = {
        ":status", "200", "content-type", "application/grpc", "grpc-encoding", "snappy"
    };

    @Test
    void messageInAnEncodingThatWasNotOfferedIsAMistake() {
        assertAnswer(
                script -> script.head(3, SNAPPY).data(3, Http2Script.framed(1, bytes("a"))),
                StatusCode.INTERNAL,
                Executed.YES,
                "snappy");
    }

    /** A server may name an encoding even if it compresses no message. */
    @Test
    void encodingThatWasNotOfferedDoesNotHideTheStatus() {
        assertAnswer(
                script -> script.head(3, SNAPPY)
                        .data(3, Http2Script.framed(0, bytes("a")))
                        .end(3, "grpc-status", "5", "grpc-message", "gone"),
                StatusCode.NOT_FOUND,
                Executed.MAYBE,
                "gone");
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
    void largeAnswerIsNotReadToItsEndWhileOtherAnswersHoldTheMemory() {
        try (FullAnswerMemory full = new FullAnswerMemory()) {
            assertAnswer(
                    script -> script.head(3, OK)
                            .data(3, new byte[] {0, 0, 16, 0, 0})
                            .data(3, new byte[300_000]),
                    StatusCode.RESOURCE_EXHAUSTED,
                    Executed.YES,
                    "its answer is not read completely",
                    "half of the heap");
        }
        assertThat(UnfinishedAnswers.OF_PROCESS.usedBytes()).isZero();
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

    @ParameterizedTest
    @CsvSource({"0, 13", "13, 0", "0, 0"})
    void severalStatusesAreNoSuccess(String one, String other) {
        assertAnswer(
                script -> script.head(3, OK)
                        .data(3, Http2Script.framed(0, bytes("a")))
                        .end(3, "grpc-status", one, "grpc-status", other),
                StatusCode.UNKNOWN,
                Executed.MAYBE,
                one + "," + other);
    }

    @ParameterizedTest
    @ValueSource(ints = {33_000, 130_000})
    void headersLargerThanWeTakeAreRefused(int bytes) {
        assertAnswer(
                script -> sendInPieces(script, Http2Script.block(":status", "200", "a", "x".repeat(bytes))),
                StatusCode.RESOURCE_EXHAUSTED,
                Executed.YES,
                "rules of HTTP/2");
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
}
