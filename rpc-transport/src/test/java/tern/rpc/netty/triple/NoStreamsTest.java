package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** Tests servers that permit no streams (SETTINGS_MAX_CONCURRENT_STREAMS of 0). */
@Timeout(60)
class NoStreamsTest extends RawServerCalls {

    private static void permit(Http2Script script, int streams) {
        script.send(Http2Script.SETTINGS, 0, 0, Http2Script.settings(Http2Script.MAX_CONCURRENT_STREAMS, streams));
    }

    @Test
    void callsFailAsNotExecutedIfTheServerPermitsNoStreamsForLong() {
        ClientConnection connection = connect();
        PendingCall waiting = send(connection, "1");
        Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 0);

        assertFailed(waiting, StatusCode.UNAVAILABLE, Executed.NO, "has permitted no streams");
        assertThat(waiting.wasSent()).isFalse();
        assertThat(connection.inFlight()).isZero();
        assertThat(connection.queuedBytes()).isZero();
    }

    @Test
    void callsThatBeginLaterFailAtOnce() {
        ClientConnection connection = connect();
        PendingCall waiting = send(connection, "1");
        Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 0);
        failure(waiting);

        long began = System.nanoTime();
        failure(send(connection, "2"));

        assertThat(System.nanoTime() - began).isLessThan(900_000_000L);
    }

    @Test
    void callsWaitForStreamsThatAreSoonPermittedAgain() {
        ClientConnection connection = connect();
        PendingCall first = send(connection, "1");
        Http2Script script = Http2Script.accept(server, Http2Script.MAX_CONCURRENT_STREAMS, 0);
        permit(script, 1);

        script.answer(script.request().stream, bytes("one"));
        assertThat(answer(first)).isEqualTo("one");

        permit(script, 0);
        PendingCall second = send(connection, "2");
        permit(script, 1);
        script.answer(script.request().stream, bytes("two"));

        assertThat(answer(second)).isEqualTo("two");
    }
}
