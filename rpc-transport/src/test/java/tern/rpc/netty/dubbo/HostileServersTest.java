package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.PendingCall;

/** Tests the limits that protect a client against servers that send endless frames. */
class HostileServersTest {

    private final EmbeddedConnection connection =
            new EmbeddedConnection(new DubboProtocol(HessianSerializer.builder().build(), 0));

    @AfterEach
    void close() {
        connection.close();
    }

    @Test
    void serverThatDoesNotReadTheAnswersToItsHeartbeatsIsCutOff() {
        for (int i = 0; i < DubboClientHandler.MAX_UNSENT_ANSWERS; i++) {
            connection.send(RawFrame.heartbeat(i).bytes());
        }
        assertThat(connection.isOpen()).isTrue();
        assertThat(connection.unread()).isEqualTo(DubboClientHandler.MAX_UNSENT_ANSWERS);

        connection.send(RawFrame.heartbeat(0).bytes());

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("1000 answers to heartbeats wait");
    }

    @Test
    void answersThatWereReadMakeRoomForOthers() {
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < DubboClientHandler.MAX_UNSENT_ANSWERS; i++) {
                connection.send(RawFrame.heartbeat(i).bytes());
            }
            connection.readAll();
        }

        assertThat(connection.isOpen()).isTrue();
    }

    /** Sends calls that expire without an answer, and returns their ids. */
    private List<Long> expiredCalls(int number) {
        List<Long> ids = new ArrayList<>();
        while (ids.size() < number) {
            PendingCall call = new PendingCall(echo(), false, System.nanoTime(), null);
            connection.call(call);
            ids.add(call.id());
            if (ids.size() % 1_000 == 0) { // at most 1,024 calls may be in flight
                connection.passSecond();
                assertThat(call.isDone()).isTrue();
            }
        }
        return ids;
    }

    private static Invocation echo() {
        MethodDescriptor method =
                ServiceDescriptor.of(GreetService.class).overloads("echo").get(0);
        return new Invocation(
                new ServiceKey(GreetService.class.getName(), "", ""),
                method,
                new Object[] {"x"},
                new Metadata(),
                Deadline.at(System.nanoTime()),
                Runnable::run);
    }

    private static RawFrame answer(long id) {
        return new RawFrame(RawFrame.RESPONSE, 20, id, new byte[] {(byte) 0x92});
    }

    /** The first late answer arrives long after the connection was opened, as it would after a pause of the server. */
    @Test
    void lateAnswersAfterAPauseOfTheServerAreNoFlood() {
        connection.beginReading();
        for (int second = 0; second < 40; second++) {
            connection.passSecond();
        }

        List<Long> ids = expiredCalls(3 * DubboClientHandler.MAX_SURPLUS / 1_000 * 1_000);
        ids.forEach(id -> connection.send(answer(id).bytes()));

        assertThat(connection.isOpen()).isTrue();
    }

    @Test
    void moreLateAnswersThanExpiredCallsAreAFlood() {
        connection.beginReading();
        List<Long> ids = expiredCalls(1_000);
        for (int i = 0; i < ids.size() + DubboClientHandler.MAX_SURPLUS; i++) {
            connection.send(answer(ids.get(0)).bytes());
        }
        assertThat(connection.isOpen()).isTrue();

        connection.send(answer(ids.get(0)).bytes());

        assertThat(connection.isOpen()).isFalse();
    }

    static Stream<RawFrame> surplus() {
        return Stream.of(
                RawFrame.heartbeat(1),
                RawFrame.heartbeatAnswer(1),
                new RawFrame(RawFrame.READ_ONLY, 0, 1, new byte[] {1, 'W'}),
                new RawFrame(RawFrame.TWO_WAY, 0, 1, new byte[] {'N'}),
                new RawFrame(RawFrame.RESPONSE, 20, 1, new byte[] {(byte) 0x92}));
    }

    @ParameterizedTest
    @MethodSource("surplus")
    void serverThatSendsFramesWithoutEndIsCutOff(RawFrame frame) {
        connection.beginReading();
        for (int i = 0; i < DubboClientHandler.MAX_SURPLUS; i++) {
            connection.send(frame.bytes());
        }
        assertThat(connection.isOpen()).isTrue();

        connection.send(frame.bytes());

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("4097 frames that answer no call");
    }
}
