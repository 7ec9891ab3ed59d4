package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.wire.GreetService;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.peer.InstantServices;
import tern.rpc.server.ServiceExport;

class ConnectionDrainTest {

    private static final byte[] PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1);
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final String ECHO = "/com.example.wire.GreetService/echo";

    /**
     * Returns the last stream ids from the GOAWAY frames that the server has sent since the last call to this method.
     */
    private static List<Integer> lastStreams(EmbeddedServer.Peer peer) {
        return Http2Script.frames(peer.received()).stream()
                .filter(frame -> frame.type() == GOAWAY)
                .map(frame -> ByteBuffer.wrap(frame.payload()).getInt())
                .toList();
    }

    @Test
    void clientThatDoesNotAcknowledgeThePingGetsTheFinalGoAwayAfterTenSeconds() throws Exception {
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        exports -> exports.export(ServiceExport.of(GreetService.class, InstantServices.greet())));
                EmbeddedServer.Peer peer = server.connect()) {
            byte[] beginning = HttpFuzzTest.joined(PREFACE, new Http2Script.Frame(SETTINGS, 0, 0, new byte[0]).bytes());
            peer.send(beginning, 0, beginning.length);
            peer.run();

            peer.drain();
            assertThat(lastStreams(peer)).containsExactly(Integer.MAX_VALUE);
            peer.pass(Duration.ofSeconds(5));
            assertThat(lastStreams(peer)).isEmpty();
            assertThat(peer.isOpen()).isTrue();
            peer.pass(Duration.ofSeconds(5));

            assertThat(lastStreams(peer)).containsExactly(0);
            assertThat(peer.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {Http2Script.DATA, Http2Script.RST_STREAM, Http2Script.WINDOW_UPDATE})
    void floodOfFramesOfRefusedStreamsEndsTheConnection(int type) throws Exception {
        byte[] frame = new Http2Script.Frame(type, 0, 3, Http2Script.fourBytes(8)).bytes();
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        exports -> exports.export(ServiceExport.of(GreetService.class, InstantServices.greet())));
                EmbeddedServer.Peer peer = server.connect()) {
            byte[] beginning = HttpFuzzTest.joined(
                    PREFACE,
                    new Http2Script.Frame(SETTINGS, 0, 0, new byte[0]).bytes(),
                    // the call keeps running, because its request is incomplete
                    new Http2Script.Frame(Http2Script.HEADERS, Http2Script.END_HEADERS, 1, Http2Wire.block(ECHO))
                            .bytes());
            peer.send(beginning, 0, beginning.length);
            peer.run();
            peer.drain();
            peer.pass(Duration.ofSeconds(10));
            assertThat(lastStreams(peer)).contains(1);

            for (int i = 0; i < Http2Limits.MAX_FRAMES_IN_VAIN; i++) {
                peer.send(frame, 0, frame.length);
            }
            assertThat(peer.isOpen()).isTrue();
            peer.send(frame, 0, frame.length);

            assertThat(peer.isOpen()).isFalse();
        }
    }
}
