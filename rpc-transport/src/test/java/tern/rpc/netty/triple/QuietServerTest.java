package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.ServiceKey;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.PendingCall;

/** Tests when the Triple client asks a quiet server for a sign of life. The clock is simulated. */
class QuietServerTest {

    private static final int HEARTBEAT_SECONDS = 60;
    private static final int PROBE_AFTER_SECONDS = 5;
    private static final int PROBE_TIMEOUT_SECONDS = 10;

    private final TripleClientProtocol protocol = new TripleClientProtocol(
            new TripleCodecs(HessianSerializer.builder().build(), null, 0));
    private EmbeddedConnection connection;
    private int pings;
    private int settings;

    @BeforeEach
    void connect() {
        protocol.prepareReference(RawServerCalls.CALL.service());
        connection = new EmbeddedConnection(
                protocol,
                EmbeddedConnection.settings(
                        Duration.ofSeconds(HEARTBEAT_SECONDS),
                        Duration.ofSeconds(PROBE_AFTER_SECONDS),
                        Duration.ofSeconds(PROBE_TIMEOUT_SECONDS)));
        connection.reads(true);
        connection.send(new Frame(Http2Script.SETTINGS, 0, 0, new byte[0]).bytes());
        connection.send(new Frame(Http2Script.SETTINGS, Http2Script.ACK, 0, new byte[0]).bytes());
        connection.written();
    }

    @AfterEach
    void close() {
        connection.close();
    }

    private void call() {
        Invocation call = new Invocation(
                new ServiceKey(RawServerCalls.CALL.service().name(), "", ""),
                RawServerCalls.CALL,
                new Object[] {new byte[1]},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
        connection.call(new PendingCall(call, false, System.nanoTime(), null));
        connection.written();
    }

    /** Lets a second pass. The server acknowledges the frames that ask for it. */
    private void passSecondOfAQuietServer() {
        connection.passSecond();
        for (Frame frame : Http2Script.frames(connection.written())) {
            assertThat(frame.flags()).isZero();
            pings += frame.type() == Http2Script.PING ? 1 : 0;
            settings += frame.type() == Http2Script.SETTINGS ? 1 : 0;
            connection.send(new Frame(frame.type(), Http2Script.ACK, 0, frame.payload()).bytes());
        }
    }

    @Test
    void serverThatFallsSilentAfterThreeAnswersIsDisconnected() {
        call();
        while (pings + settings < 3) {
            passSecondOfAQuietServer();
        }

        long silentSince = connection.now();
        for (int i = 0; i < PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS; i++) {
            assertThat(connection.isOpen()).isTrue();
            connection.passSecond();
            assertThat(connection.isHeardAfter(silentSince)).isFalse();
        }

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("nothing was received for 15000 ms");
    }

    @Test
    void quietCallIsKeptWithTwoPings() {
        call();

        for (int i = 0; i < 600; i++) {
            passSecondOfAQuietServer();
        }

        assertThat(connection.isOpen()).isTrue();
        assertThat(pings).isEqualTo(2);
        assertThat(pings + settings).isEqualTo(600 / PROBE_AFTER_SECONDS);
    }

    @Test
    void idleConnectionIsKeptWithTwoPings() {
        for (int i = 0; i < 3_600; i++) {
            passSecondOfAQuietServer();
        }

        assertThat(connection.isOpen()).isTrue();
        assertThat(pings).isEqualTo(2);
        assertThat(pings + settings).isEqualTo(3_600 / HEARTBEAT_SECONDS);
    }
}
