package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.netty.EmbeddedConnection;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.serialization.hessian.HessianSerializer;

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
        connection.reads(true);
        for (int i = 0; i < DubboClientHandler.MAX_SURPLUS; i++) {
            connection.send(frame.bytes());
        }
        assertThat(connection.isOpen()).isTrue();

        connection.send(frame.bytes());

        assertThat(connection.isOpen()).isFalse();
        assertThat(connection.closeReason()).contains("4097 frames that answer no call");
    }
}
