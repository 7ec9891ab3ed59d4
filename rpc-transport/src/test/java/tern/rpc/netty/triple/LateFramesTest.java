package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.server.RpcServer;

/** Tests clients that open streams after the server has sent its final GOAWAY. */
@Timeout(60)
class LateFramesTest {

    private static final String ECHO = "/com.example.wire.GreetService/echo";
    private static final int ACK = 1;
    private static final byte[] CANCEL = {0, 0, 0, 8};

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    @Test
    void framesOfRefusedStreamsDoNotEndRunningCalls() throws InterruptedException {
        RpcServer server = sides.serve(limits -> limits, settings -> {});
        Thread draining = new Thread(() -> server.drain(Duration.ofSeconds(20)));
        try (Http2Wire wire = Http2Wire.open(server.port())) {
            wire.request(1, ECHO, false);
            wire.message(1, true, 0, Http2ServerTest.HELLO);
            wire.answer(1);
            wire.request(3, ECHO, false); // the call on stream 3 keeps running, because its request is incomplete
            draining.start();
            wire.readUntil(() -> wire.lastStream() == Integer.MAX_VALUE);
            wire.readUntil(() -> !wire.pings().isEmpty());
            wire.frame(
                    Http2Wire.PING,
                    ACK,
                    0,
                    ByteBuffer.allocate(Long.BYTES).putLong(wire.pings().get(0)).array());
            wire.readUntil(() -> wire.lastStream() == 3);

            wire.request(5, ECHO, false);
            wire.message(5, false, 0, Http2ServerTest.HELLO);
            wire.openWindow(5, 100);
            wire.frame(Http2Wire.RST_STREAM, 0, 5, CANCEL);
            wire.readUntil(() -> wire.resets() > 0);
            wire.message(3, true, 0, Http2ServerTest.HELLO);

            assertThat(wire.answer(3).header("grpc-status")).isEqualTo("0");
            assertThat(wire.endOfConnection()).isEqualTo(0);
        }
        draining.join();
    }
}
