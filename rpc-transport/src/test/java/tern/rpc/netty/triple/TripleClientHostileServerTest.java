package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** Tests how the Triple client treats servers that violate the connection's protocol. */
class TripleClientHostileServerTest extends RawServerCalls {

    private static final int PADDED = 8;

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
    void goAwaysWithErrorsAreLoggedAtALimitedRate() {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        int stream = script.request().stream;
        byte[] calmDown = {0x7f, -1, -1, -1, 0, 0, 0, 11, 'c', 'a', 'l', 'm'};

        try (CapturedLog log = new CapturedLog("tern.rpc.netty")) {
            for (int i = 0; i < 900; i++) {
                script.send(Http2Script.GOAWAY, 0, 0, calmDown);
            }
            script.answer(stream, bytes("late"));

            assertThat(answer(pending)).isEqualTo("late");
            assertThat(log.lines())
                    .hasSizeLessThan(500)
                    .anyMatch(line -> line.contains("goes away with HTTP/2 error 11: calm"));
        }
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
                script -> sendInPieces(
                        script, Http2Script.block(":status", "200", "a", "x".repeat(RememberedBlocks.MAX_BLOCK_BYTES))),
                "HTTP/2");
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
