package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests that a server with a single connection serves many large calls on it at the same time. */
@Timeout(120)
class LoneConnectionTest {

    private static final int CALLS = 32;
    private static final int BYTES = 1 << 20;

    private static final TripleSides SIDES = new TripleSides();
    private static RpcServer server;

    @BeforeAll
    static void start() {
        server = SIDES.serve(
                limits -> limits, settings -> settings.export(ServiceExport.of(Words.class, new WordsServer())));
    }

    @AfterAll
    static void stop() throws Exception {
        SIDES.close();
    }

    private static String large(int call) {
        return call + "x".repeat(BYTES);
    }

    private static List<WebStream> begin(WebClient client, String method) {
        List<WebStream> streams = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            WebStream stream = client.begin(WebRequest.post(WebSides.WORDS + method, "application/grpc-web+proto")
                    .with("x-grpc-web", "1"));
            stream.send(TestFrame.of(large(i)));
            streams.add(stream);
        }
        streams.forEach(WebStream::end);
        return streams;
    }

    @Test
    void largeGrpcWebCallsOfOneConnectionAreAllServed() {
        try (WebClient client = WebClient.Version.HTTP2.connect(server.port())) {
            List<WebStream> calls = begin(client, "shout");

            for (int i = 0; i < CALLS; i++) {
                WebAnswer answer = calls.get(i).answer();
                assertThat(answer.header("grpc-status"))
                        .as(answer.header("grpc-message"))
                        .isIn("", "0");
                List<TestFrame> frames = TestFrame.parse(answer.body());
                assertThat(frames.get(0).message()).isEqualTo(large(i).toUpperCase(Locale.ROOT));
                assertThat(frames.get(1).text()).contains("grpc-status:0");
            }
        }
    }
}
