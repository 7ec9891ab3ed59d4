package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/**
 * Tests frames that arrive on streams after this side has reset them. A peer that sends each small message in a
 * separate frame can fill the flow-control window with tens of thousands of frames before it receives the reset. The
 * other calls on the connection must continue.
 */
@Timeout(60)
class FramesInVainTest extends RawServerCalls {

    /**
     * A number of frames that exceeds the limit for frames without data. All frames together fit into a stream's
     * flow-control window.
     */
    private static final int FRAMES = 3 * Http2Limits.MAX_FRAMES_IN_VAIN;

    private static final int FRAMES_PER_WRITE = 1_000;
    private static final byte[] SMALL_MESSAGE = {0, 0, 0, 0, 2, 8, 1};

    private static byte[] smallMessages(int stream) {
        byte[] frame = new Http2Script.Frame(Http2Script.DATA, 0, stream, SMALL_MESSAGE).bytes();
        byte[] frames = new byte[FRAMES_PER_WRITE * frame.length];
        for (int i = 0; i < FRAMES_PER_WRITE; i++) {
            System.arraycopy(frame, 0, frames, i * frame.length, frame.length);
        }
        return frames;
    }

    @Test
    void smallMessagesForACancelledCallDoNotEndTheClientsConnection() {
        ClientConnection connection = connect();
        PendingCall cancelled = send(connection, "x");
        Http2Script script = Http2Script.accept(server);
        int stream = script.request().stream;
        script.head(stream, OK);
        cancelled.fail(RpcException.refusal(StatusCode.CANCELLED, "cancelled by the caller", Executed.MAYBE));
        assertThat(script.next(Http2Script.RST_STREAM).stream()).isEqualTo(stream);

        byte[] messages = smallMessages(stream);
        for (int sent = 0; sent < FRAMES; sent += FRAMES_PER_WRITE) {
            script.send(messages);
        }
        PendingCall next = send(connection, "y");
        script.answer(script.request().stream, bytes("real"));

        assertThat(answer(next)).isEqualTo("real");
    }

    @Test
    void smallMessagesForACallThatIsAnsweredEarlyDoNotEndTheServersConnection() throws Exception {
        try (TripleSides sides = new TripleSides();
                RpcServer called = sides.serve(UnaryOperator.identity(), settings -> {});
                Http2Wire wire = Http2Wire.open(called.port())) {
            wire.request(1, "/com.example.wire.GreetService/unknown", false);
            wire.begun(1);

            byte[] messages = smallMessages(1);
            for (int sent = 0; sent < FRAMES; sent += FRAMES_PER_WRITE) {
                wire.send(messages);
            }
            wire.request(3, "/com.example.wire.PbService/hello", false);
            wire.message(3, true, 0, StringValue.of("x").toByteArray());

            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void moreBytesThanTheWindowOfAResetStreamEndTheServersConnection() throws Exception {
        byte[] data = new byte[16 << 10];
        Arrays.fill(data, (byte) 1);
        try (TripleSides sides = new TripleSides();
                RpcServer called = sides.serve(UnaryOperator.identity(), settings -> {})) {
            Http2Wire.assertCutOff(
                    called.port(),
                    wire -> {
                        wire.request(1, "/com.example.wire.GreetService/unknown", false);
                        wire.begun(1);
                        for (int sent = 0; sent < 16 << 20; sent += data.length) {
                            wire.frame(Http2Wire.DATA, 0, 1, data);
                        }
                    },
                    0xB);
        }
    }
}
