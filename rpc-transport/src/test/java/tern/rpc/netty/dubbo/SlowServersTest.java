package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.example.wire.GreetService;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.PendingCall;

/** Tests when a client gives up a connection whose server does not complete a frame. */
class SlowServersTest {

    private static final int MAX_BYTES = 1 << 20; // the size limit of an answer
    private static final int PROBE_AFTER_SECONDS = 5;
    private static final int PROBE_TIMEOUT_SECONDS = 10;
    private static final int ANSWERED = 20;

    private final EmbeddedConnection connection = new EmbeddedConnection(
            new DubboProtocol(HessianSerializer.builder().build(), 0),
            EmbeddedConnection.settings(
                    Duration.ofSeconds(60),
                    Duration.ofSeconds(PROBE_AFTER_SECONDS),
                    Duration.ofSeconds(PROBE_TIMEOUT_SECONDS)));
    private final PendingCall call = new PendingCall(echo(), false, System.nanoTime(), null);

    @BeforeEach
    void sendCall() {
        connection.beginReading();
        connection.call(call);
    }

    @AfterEach
    void close() {
        connection.close();
    }

    private static Invocation echo() {
        MethodDescriptor method =
                ServiceDescriptor.of(GreetService.class).overloads("echo").get(0);
        return new Invocation(
                new ServiceKey(GreetService.class.getName(), "", ""),
                method,
                new Object[] {"x"},
                new Metadata(),
                Deadline.none(),
                Runnable::run);
    }

    /** Sends the header of an answer, without its body. */
    private void beginAnswer(int length) {
        connection.send(RawFrame.header(RawFrame.RESPONSE, ANSWERED, call.id(), length));
    }

    /** Sends the given number of bytes once a second, for the given number of seconds. */
    private void drip(int seconds, int bytes) {
        for (int i = 0; i < seconds && connection.isOpen(); i++) {
            connection.passSecond();
            connection.send(new byte[bytes]);
        }
    }

    private static StatusCode failure(PendingCall call) {
        return ((RpcException) catchThrowable(call::await)).code();
    }

    @ParameterizedTest
    @ValueSource(ints = {MAX_BYTES, MAX_BYTES + 1})
    void serverThatDripsAnAnswerOrASkippedAnswerIsDisconnected(int length) {
        connection.call(new PendingCall(echo(), false, System.nanoTime(), null));
        beginAnswer(length);

        drip(PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS - 1, 1);
        assertThat(connection.isOpen()).isTrue();
        drip(1, 1);

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("bytes of an incomplete frame were received within 15000 ms");
    }

    @Test
    void serverThatDripsAHeaderIsDisconnected() {
        byte[] header = RawFrame.header(RawFrame.RESPONSE, ANSWERED, call.id(), 1);
        for (int i = 0; i < PROBE_AFTER_SECONDS + PROBE_TIMEOUT_SECONDS; i++) {
            assertThat(connection.isOpen()).isTrue();
            connection.send(new byte[] {header[i]});
            connection.passSecond();
        }

        assertThat(connection.isOpen()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {MAX_BYTES, MAX_BYTES + (100 << 10)})
    void largeAnswerMayArriveAtTheMinimumRate(int length) {
        beginAnswer(length);

        drip(length >> 10, 1 << 10);

        assertThat(connection.isOpen()).isTrue();
        assertThat(call.isDone()).isTrue();
        assertThat(catchThrowable(call::await)).as("the body is no answer").isNotNull();
    }

    @Test
    void heartbeatAnswersKeepTheConnectionOfASlowMethod() {
        for (int i = 0; i < 600; i++) {
            connection.passSecond();
            byte[] written = connection.written();
            if (i > 0 && written.length > 0) {
                connection.send(
                        RawFrame.heartbeatAnswer(RawFrame.of(written).id()).bytes());
            }
        }

        assertThat(connection.isOpen()).isTrue();
        assertThat(call.isDone()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {(64 << 20) + 1, Integer.MAX_VALUE})
    void answerThatIsTooLargeToBeSkippedEndsTheConnection(int length) {
        PendingCall other = new PendingCall(echo(), false, System.nanoTime(), null);
        connection.call(other);

        beginAnswer(length);

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains(length + " bytes; at most " + MAX_BYTES + " are accepted");
        assertThat(failure(call)).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure(other)).isEqualTo(StatusCode.UNAVAILABLE);
    }

    @Test
    void answerOfTheLargestSkippedSizeDoesNotEndTheConnection() {
        beginAnswer(64 << 20);

        assertThat(connection.isOpen()).isTrue();
        assertThat(call.isDone()).isTrue();
    }
}
