package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.netty.triple.RawServerCalls.OK;

import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.triple.Http2Script.Frame;

/** Tests when the Triple client sends a PING or SETTINGS frame to check whether a silent server is alive. */
class QuietServerTest {

    private static final int HEARTBEAT_SECONDS = 60;
    private static final int PROBE_AFTER_SECONDS = 5;
    private static final int PROBE_TIMEOUT_SECONDS = 10;

    private final EmbeddedCalls calls = new EmbeddedCalls(EmbeddedConnection.settings(
            Duration.ofSeconds(HEARTBEAT_SECONDS),
            Duration.ofSeconds(PROBE_AFTER_SECONDS),
            Duration.ofSeconds(PROBE_TIMEOUT_SECONDS)));
    private final EmbeddedConnection connection = calls.connection;
    private int pings;
    private int settings;

    @AfterEach
    void close() {
        connection.close();
    }

    private void call() {
        calls.call(Deadline.none());
        connection.written();
    }

    /**
     * Advances the clock second by second. The server acknowledges PING and SETTINGS frames, and sends nothing else.
     */
    private void passSecondsOfAQuietServer(int seconds) {
        for (int i = 0; i < seconds; i++) {
            connection.passSecond();
            for (Frame frame : Http2Script.frames(connection.written())) {
                assertThat(frame.flags()).isZero();
                pings += frame.type() == Http2Script.PING ? 1 : 0;
                settings += frame.type() == Http2Script.SETTINGS ? 1 : 0;
                calls.send(frame.type(), Http2Script.ACK, 0, frame.payload());
            }
        }
    }

    @Test
    void serverThatFallsSilentAfterThreeAnswersIsDisconnected() {
        call();
        passSecondsOfAQuietServer(3 * PROBE_AFTER_SECONDS);
        assertThat(pings + settings).isEqualTo(3);

        long silentSince = connection.now();
        for (int i = 0; i < PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS; i++) {
            assertThat(connection.isOpen()).isTrue();
            connection.passSecond();
            assertThat(connection.isHeardAfter(silentSince)).isFalse();
        }

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("nothing was received for 15000 ms");
    }

    /** Sends the given bytes, one per second, while the connection is open. */
    private void drip(byte... bytes) {
        for (int i = 0; i < bytes.length && connection.isOpen(); i++) {
            connection.passSecond();
            connection.send(new byte[] {bytes[i]});
        }
    }

    @Test
    void serverThatDripsAFrameIsDisconnected() {
        call();
        connection.send(new Frame(Http2Script.HEADERS, Http2Script.END_HEADERS, 3, Http2Script.block(OK)).bytes());
        byte[] frame = new Frame(Http2Script.DATA, 0, 3, new byte[100]).bytes();

        drip(Arrays.copyOf(frame, PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS - 1));
        assertThat(connection.isOpen()).isTrue();
        drip(frame);

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("of an incomplete frame were received within 15000 ms");
    }

    @Test
    void serverThatDripsHeadersInWholeFramesIsDisconnected() {
        call();
        byte[] block = Http2Script.block(":status", "200", "content-type", "application/grpc");
        calls.send(Http2Script.HEADERS, 0, 3, block[0]);

        for (int i = 1; i < PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS; i++) {
            assertThat(connection.isOpen()).isTrue();
            connection.passSecond();
            calls.send(Http2Script.CONTINUATION, 0, 3, block[i]);
        }
        connection.passSecond();

        assertThat(connection.isOpen()).isFalse();
    }

    @Test
    void answerMayArriveAtTheMinimumRate() {
        call();
        connection.send(new Frame(Http2Script.HEADERS, Http2Script.END_HEADERS, 3, Http2Script.block(OK)).bytes());
        byte[] frame = new Frame(Http2Script.DATA, 0, 3, new byte[16 << 10]).bytes();

        for (int done = 0; done < frame.length; done += 1 << 10) {
            connection.passSecond();
            connection.send(Arrays.copyOfRange(frame, done, Math.min(frame.length, done + (1 << 10))));
        }

        assertThat(connection.isOpen()).isTrue();
    }

    @Test
    void quietCallIsKeptWithTwoPings() {
        call();

        passSecondsOfAQuietServer(600);

        assertThat(connection.isOpen()).isTrue();
        assertThat(pings).isEqualTo(2);
        assertThat(pings + settings).isEqualTo(600 / PROBE_AFTER_SECONDS);
    }

    @Test
    void idleConnectionIsKeptWithTwoPings() {
        passSecondsOfAQuietServer(3_600);

        assertThat(connection.isOpen()).isTrue();
        assertThat(pings).isEqualTo(2);
        assertThat(pings + settings).isEqualTo(3_600 / HEARTBEAT_SECONDS);
    }
}
