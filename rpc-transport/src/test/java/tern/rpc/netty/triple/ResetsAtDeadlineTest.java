package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.codec.http2.Http2Error;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.StatusCode;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.triple.Http2Script.Frame;
import tern.rpc.transport.PendingCall;

/** Tests how the Triple client treats a server that resets the streams of many calls. */
class ResetsAtDeadlineTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final EmbeddedCalls calls = new EmbeddedCalls(EmbeddedConnection.settings(HOUR, HOUR, HOUR));

    @AfterEach
    void close() {
        calls.connection.close();
    }

    /** Sends calls one after another. The server resets the stream of each call before any answer. */
    private List<PendingCall> resetCalls(int number, Deadline deadline) {
        List<PendingCall> all = new ArrayList<>();
        while (all.size() < number && calls.connection.isOpen()) {
            all.add(calls.call(deadline));
            Frame headers = Http2Script.frames(calls.connection.written()).stream()
                    .filter(frame -> frame.type() == Http2Script.HEADERS)
                    .findAny()
                    .orElseThrow();
            int cancel = (int) Http2Error.CANCEL.code();
            calls.send(Http2Script.RST_STREAM, 0, headers.stream(), Http2Script.fourBytes(cancel));
        }
        return all;
    }

    @Test
    void serverMayResetEachCallAtItsDeadline() {
        List<PendingCall> all = resetCalls(3_000, Deadline.at(System.nanoTime()));

        assertThat(calls.connection.isOpen()).isTrue();
        assertThat(all)
                .hasSize(3_000)
                .allSatisfy(call ->
                        assertThat(RawServerCalls.failure(call).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED));
    }

    /** A server's resets affect only streams that the client has opened, so they must not end the other calls. */
    @Test
    void resetsOfManyCallsDoNotEndTheOtherCalls() {
        PendingCall other = calls.call(Deadline.none());
        calls.connection.written();

        List<PendingCall> all = resetCalls(3_000, Deadline.none());

        assertThat(all)
                .hasSize(3_000)
                .allSatisfy(
                        call -> assertThat(RawServerCalls.failure(call).code()).isEqualTo(StatusCode.CANCELLED));
        assertThat(calls.connection.isOpen()).isTrue();
        assertThat(other.isDone()).isFalse();
    }
}
