package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.triple.Http2Script.Request;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** Tests how the Triple client reads answers in unusual frames and answers in invalid frames. */
@Timeout(60)
class TripleClientOddFramesTest extends RawServerCalls {

    private static final int PRIORITY = 2;
    private static final int PADDED = 8;
    private static final int HAS_PRIORITY = 0x20;
    private static final int UNKNOWN = 0xFA;

    private void assertAnswered(Consumer<Http2Script> answer) {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        answer.accept(script);

        assertThat(answer(pending)).isEqualTo("a");
        assertUsable(connection, script);
    }

    private void assertRefused(Consumer<Http2Script> answer, StatusCode code, Executed executed) {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        answer.accept(script);

        assertFailed(pending, code, executed, " at 127.0.0.1:");
        assertUsable(connection, script);
    }

    private void assertUsable(ClientConnection connection, Http2Script script) {
        PendingCall next = send(connection, "y");
        Request request = script.request();
        script.answer(request.stream, bytes("next"));
        assertThat(answer(next)).as("the connection is as good as before").isEqualTo("next");
    }

    private static byte[] padded(int padding, byte... bytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(padding);
        out.writeBytes(bytes);
        out.writeBytes(new byte[padding]);
        return out.toByteArray();
    }

    private static byte[] framed(String text) {
        return Http2Script.framed(0, bytes(text));
    }

    @Test
    void answerInPaddedPiecesIsRead() {
        assertAnswered(script -> {
            byte[] head = Http2Script.block(OK);
            script.send(Http2Script.HEADERS, PADDED, 3, padded(100, head[0]));
            for (int i = 1; i < head.length; i += 10) {
                script.send(Http2Script.CONTINUATION, 0, 3, Arrays.copyOfRange(head, i, Math.min(i + 10, head.length)));
            }
            script.send(Http2Script.CONTINUATION, Http2Script.END_HEADERS, 3);
            for (byte each : framed("a")) {
                script.send(Http2Script.DATA, PADDED, 3, padded(255, each));
            }
            script.send(Http2Script.DATA, 0, 3);
            ByteArrayOutputStream trailers = new ByteArrayOutputStream();
            trailers.writeBytes(new byte[] {10, 0, 0, 0, 0, 1});
            trailers.writeBytes(Http2Script.block("grpc-status", "0"));
            trailers.writeBytes(new byte[10]);
            script.send(
                    Http2Script.HEADERS,
                    PADDED | HAS_PRIORITY | Http2Script.END_HEADERS | Http2Script.END_STREAM,
                    3,
                    trailers.toByteArray());
        });
    }

    @Test
    void unknownFramesAndPrioritiesAreSkipped() {
        assertAnswered(script -> {
            script.send(UNKNOWN, 0xFF, 0, bytes("ignored"));
            script.send(UNKNOWN, 0xFF, 3, bytes("ignored"));
            script.send(12, 0, 0, new byte[] {0, 0}); // ORIGIN, RFC 8336
            script.send(10, 0, 3, new byte[] {0, 0, 'x'}); // ALTSVC, RFC 7838
            script.head(3, OK);
            script.send(PRIORITY, 0, 3, new byte[] {0, 0, 0, 5, 16});
            script.send(UNKNOWN, Http2Script.END_STREAM, 3, framed("b"));
            script.data(3, framed("a")).end(3, "grpc-status", "0");
            script.send(PRIORITY, 0, 3, new byte[] {0, 0, 0, 5, 16});
            script.send(UNKNOWN, 0, 3, bytes("ignored"));
        });
    }

    @Test
    void resetWithoutErrorAfterTheEndIsNoFailure() {
        assertAnswered(script -> script.head(3, OK)
                .data(3, framed("a"))
                .end(3, "grpc-status", "0")
                .reset(3, 0));
    }

    @Test
    void settingsInTheMiddleOfAnAnswerAreApplied() {
        assertAnswered(script -> {
            script.head(3, OK);
            script.send(
                    Http2Script.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 1, 0xAAAA, 7));
            script.data(3, framed("a"));
            script.send(Http2Script.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 65_535));
            script.end(3, "grpc-status", "0");
        });
    }

    @Test
    void trailersThatDoNotEndTheAnswerAreAMistake() {
        assertRefused(
                script -> script.head(3, OK).data(3, framed("a")).head(3, "grpc-status", "0"),
                StatusCode.INTERNAL,
                Executed.YES);
    }

    @Test
    void framesAfterTheTrailersAreIgnoredOrEndTheConnectionButNotTheAnswer() {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        script.request();

        script.head(3, OK).data(3, framed("a")).end(3, "grpc-status", "0");
        script.data(3, framed("b")).end(3, "grpc-status", "13");

        assertThat(answer(pending)).isEqualTo("a");
    }

    /** If a server has begun to answer a call, the call must not be repeated, because the server has run it. */
    @ParameterizedTest
    @ValueSource(ints = {0, 11})
    void callThatTheServerHasBegunToAnswerMayHaveRunWhateverItsGoAwayStates(int error) {
        PendingCall pending = send(connect(), "x");
        Http2Script script = Http2Script.accept(server);
        script.request();
        script.head(3, OK);

        script.send(Http2Script.GOAWAY, 0, 0, new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) error});

        assertFailed(pending, StatusCode.UNAVAILABLE, Executed.MAYBE, "during its answer");
    }

    @Test
    void windowUpdateOfZeroFailsItsCallAlone() {
        assertRefused(script -> script.head(3, OK).credit(3, 0), StatusCode.INTERNAL, Executed.YES);
    }

    @Test
    void answerWhoseLengthContradictsItsHeaderIsAMistake() {
        for (int length : new int[] {5, 7}) {
            assertRefused(
                    script -> {
                        String[] head = Arrays.copyOf(OK, OK.length + 2);
                        head[OK.length] = "content-length";
                        head[OK.length + 1] = String.valueOf(length);
                        script.head(3, head).data(3, framed("a")).end(3, "grpc-status", "0");
                    },
                    StatusCode.INTERNAL,
                    Executed.YES);
        }
    }

    @Test
    void trailersHaveNoPseudoHeaders() {
        assertRefused(
                script -> script.head(3, OK).data(3, framed("a")).end(3, ":status", "200", "grpc-status", "0"),
                StatusCode.INTERNAL,
                Executed.YES);
    }
}
