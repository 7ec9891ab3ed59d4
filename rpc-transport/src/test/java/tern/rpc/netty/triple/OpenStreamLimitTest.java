package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcAuthorizer;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests which streaming calls are refused because too many are open. Closing a peer checks that none still counts. */
class OpenStreamLimitTest {

    private static final String WORDS = "/" + Words.class.getName() + "/";
    private static final String REFUSAL = "a tenant must not have more streams than are free";

    private static String answers(@Nullable RpcAuthorizer authorizer, Consumer<Http2Wire> frames) throws Exception {
        Consumer<RpcServer.Builder> exports = builder -> {
            builder.export(ServiceExport.of(Words.class, new WordsServer()));
            if (authorizer != null) {
                builder.authorizer(authorizer);
            }
        };
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(sides.protocols(), exports)) {
            server.limitStreams(4);
            try (EmbeddedServer.Peer peer = server.connect()) {
                byte[] bytes = Http2Wire.bytesOf(frames);
                peer.send(bytes, 0, bytes.length);
                peer.run();
                return new String(peer.received(), ISO_8859_1);
            }
        }
    }

    private static void openTwo(Http2Wire wire) {
        wire.request(1, WORDS + "shoutAll", false);
        wire.request(3, WORDS + "shoutAll", false);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void thirdStreamOfFourIsRefused(boolean authorized) throws Exception {
        RpcAuthorizer authorizer = authorized ? call -> null : null;

        assertThat(answers(authorizer, OpenStreamLimitTest::openTwo)).doesNotContain(REFUSAL);
        assertThat(answers(authorizer, wire -> {
                    openTwo(wire);
                    wire.request(5, WORDS + "shoutAll", false);
                }))
                .contains("2 of 4 streams of this server are open")
                .contains(REFUSAL);
    }

    @Test
    void refusalDoesNotRevealTheMethodToAStranger() throws Exception {
        RpcAuthorizer authorizer = call -> {
            if (call.metadata().contains("stranger")) {
                throw RpcAuthorizer.denied("not for strangers");
            }
            return null;
        };

        assertThat(answers(authorizer, wire -> {
                    openTwo(wire);
                    wire.request(5, WORDS + "shoutAll", false, "stranger", "yes");
                }))
                .contains("not for strangers")
                .doesNotContain(REFUSAL);
    }

    @Test
    void endedAndResetStreamsCountNoMore() throws Exception {
        assertThat(answers(null, wire -> {
                    openTwo(wire);
                    wire.frame(Http2Wire.DATA, Http2Wire.END_STREAM, 1);
                    wire.frame(Http2Wire.RST_STREAM, 0, 3, (byte) 0, (byte) 0, (byte) 0, (byte) 8);
                    wire.request(5, WORDS + "shoutAll", false);
                    wire.request(7, WORDS + "shoutAll", false);
                }))
                .doesNotContain(REFUSAL);
    }
}
