package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests how a draining server treats connections on which an answer has begun. */
@Timeout(60)
class Http1DrainTest {

    @WireName("test.Desk")
    public interface Desk {

        /** Returns its argument. */
        String tell(String text);

        /** Sends its argument, and ends the stream when the test permits it. */
        void stream(String text, StreamObserver<String> out);
    }

    private final TripleSides sides = new TripleSides();
    private final CountDownLatch letGo = new CountDownLatch(1);
    private final Desk desk = new Desk() {
        @Override
        public String tell(String text) {
            return text;
        }

        @Override
        public void stream(String text, StreamObserver<String> out) {
            out.onNext(text);
            try {
                letGo.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            out.onCompleted();
        }
    };

    @AfterEach
    void close() throws Exception {
        letGo.countDown();
        sides.close();
    }

    private static String post(String method, String body) {
        return "POST /test.Desk/" + method + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    /** The first answer's headers do not announce that the connection will be closed. */
    @Test
    void requestAfterAStreamThatBeganBeforeTheDrainIsAnswered() {
        RpcServer server = sides.serve(
                ServerTransportSettings.onPort(0),
                HttpSettings.defaults(),
                builder -> builder.export(ServiceExport.of(Desk.class, desk)));
        try (RawSocket socket = RawSocket.connect(server.port())) {
            socket.send((post("stream", "\"one\"") + post("tell", "\"two\"")).getBytes(ISO_8859_1));
            assertThat(Http1Wire.readHead(socket).header("connection")).isEmpty();

            server.drain(Duration.ofMillis(1));
            letGo.countDown();

            String rest = "c\r\ndata:\"one\"\n\n\r\n0\r\n\r\n";
            assertThat(new String(socket.readFully(rest.length()), ISO_8859_1)).isEqualTo(rest);
            Answer next = Http1Wire.read(socket);
            assertThat(next.text()).isEqualTo("\"two\"");
            assertThat(next.header("connection")).isEqualTo("close");
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }
}
