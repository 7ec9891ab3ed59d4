package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcAuthorizer;
import tern.rpc.ServiceDescriptor;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.serialization.CoderPool;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests which streaming calls are refused because too many are open. When a connection is closed, the embedded server
 * checks that the connection's streams no longer count as open.
 */
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

    /** A service with two streaming methods of the same name. */
    interface Overloads {
        Flow.Publisher<String> watch(String topic);

        Flow.Publisher<String> watch(String topic, int from);
    }

    private static final class EndlessOverloads implements Overloads {
        @Override
        public Flow.Publisher<String> watch(String topic) {
            return caller -> caller.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long count) {}

                @Override
                public void cancel() {}
            });
        }

        @Override
        public Flow.Publisher<String> watch(String topic, int from) {
            return watch(topic);
        }
    }

    @Test
    void overloadedStreamsCountToo() throws Exception {
        ServiceDescriptor service = ServiceDescriptor.of(Overloads.class);
        HessianSerializer hessian = HessianSerializer.builder().build();
        hessian.prepare(service);
        PayloadCodecs codecs = new PayloadCodecs(new CoderPool(hessian));
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        builder -> builder.export(ServiceExport.of(Overloads.class, new EndlessOverloads())))) {
            server.limitStreams(4);
            byte[] sent = Http2Wire.bytesOf(wire -> {
                for (int stream = 1; stream <= 5; stream += 2) {
                    MethodDescriptor method = service.overloads("watch").get(stream % 4 / 2);
                    boolean one = method.parameters().size() == 1;
                    OutputBuffer request = new OutputBuffer();
                    codecs.of(method).writeRequest(one ? new Object[] {"a"} : new Object[] {"a", 1}, request);
                    wire.request(stream, "/" + Overloads.class.getName() + "/watch", false);
                    wire.message(stream, true, 0, request.toByteArray());
                }
            });
            try (EmbeddedServer.Peer peer = server.connect()) {
                peer.send(sent, 0, sent.length);
                peer.run();
                assertThat(new String(peer.received(), ISO_8859_1))
                        .contains("2 of 4 streams of this server are open")
                        .containsOnlyOnce(REFUSAL);
            }
        }
    }

    @Test
    void clientThatResetsRefusedStreamsKeepsItsConnection() throws Exception {
        byte[] hello = Http2Wire.bytesOf(wire -> {});
        try (TripleSides sides = new TripleSides();
                EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(),
                        builder -> builder.export(ServiceExport.of(Words.class, new WordsServer())))) {
            server.limitStreams(4);
            try (EmbeddedServer.Peer peer = server.connect()) {
                send(peer, hello, 0, OpenStreamLimitTest::openTwo);
                int refused = 0;
                for (int stream = 5; stream < 5 + 2 * 300; stream += 2) {
                    int id = stream;
                    send(peer, hello, hello.length, wire -> wire.request(id, WORDS + "shoutAll", false));
                    refused += peer.received().length > 0 ? 1 : 0;
                    send(
                            peer,
                            hello,
                            hello.length,
                            wire -> wire.frame(Http2Wire.RST_STREAM, 0, id, (byte) 0, (byte) 0, (byte) 0, (byte) 8));
                }
                assertThat(refused).isEqualTo(300);

                send(peer, hello, hello.length, wire -> wire.message(1, true, 0, new byte[] {10, 1, 'a'}));
                assertThat(new String(peer.received(), ISO_8859_1)).contains("A");
            }
        }
    }

    private static void send(EmbeddedServer.Peer peer, byte[] hello, int skipped, Consumer<Http2Wire> frames) {
        byte[] bytes = Http2Wire.bytesOf(frames);
        assertThat(bytes).startsWith(hello);
        peer.send(bytes, skipped, bytes.length);
        peer.run();
    }
}
