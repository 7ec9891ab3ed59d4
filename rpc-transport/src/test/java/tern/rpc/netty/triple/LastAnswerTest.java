package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.WireName;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests that a client receives the last answer on a connection that the server is closing. */
@Timeout(120)
class LastAnswerTest {

    /** The answer fits into the send buffer of the operating system. */
    private static final int ANSWER_BYTES = 256 << 10;

    @WireName("test.Letters")
    public interface Letters {
        String letters(String text);
    }

    private final TripleSides sides = new TripleSides();

    @AfterEach
    void close() throws Exception {
        sides.close();
    }

    private static void call(Http2Wire wire, int stream) {
        byte[] head = Http2Wire.block(Http2Wire.head("/test.Letters/letters", "application/json"));
        wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, stream, head);
        wire.frame(Http2Wire.DATA, Http2Wire.END_STREAM, stream, "\"x\"".getBytes(ISO_8859_1));
    }

    @Test
    void frameOfTheClientDoesNotDestroyTheLastAnswerOfADrainedConnection() throws Exception {
        NettyServerTransport transport =
                new NettyServerTransport(ServerTransportSettings.onPort(0), sides.loops(), sides.protocols());
        try (RpcServer server = RpcServer.builder(transport)
                .export(ServiceExport.of(Letters.class, text -> text.repeat(ANSWER_BYTES)))
                .build()) {
            server.start();
            try (Http2Wire wire = Http2Wire.connectSlowly(server.port())) {
                wire.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
                ByteBuffer window = ByteBuffer.allocate(6).putShort((short) 4).putInt(16 << 20);
                wire.frame(Http2Wire.SETTINGS, 0, 0, window.array());
                wire.openWindow(0, 16 << 20);
                call(wire, 1);
                wire.answer(1);
                Thread drain = new Thread(() -> server.drain(Duration.ofSeconds(60)));
                drain.start();
                wire.readUntil(() -> !wire.pings().isEmpty());
                call(wire, 3);
                wire.frame(
                        Http2Wire.PING,
                        Http2Wire.ACK,
                        0,
                        ByteBuffer.allocate(8).putLong(wire.pings().get(0)).array());
                Await.until(
                        "the server has sent its last byte",
                        () -> transport.endingConnections() == 1 || transport.connections() == 0);
                wire.openWindow(0, 1_000);

                Http2Wire.Answer answer = wire.answer(3);
                assertThat(answer.data.size()).isEqualTo(ANSWER_BYTES + 2);
                assertThat(wire.endOfConnection()).isZero();
                wire.leaveAbruptly();
                drain.join();
            }
        }
    }
}
