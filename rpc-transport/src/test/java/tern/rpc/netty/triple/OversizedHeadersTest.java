package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.StringValue;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.Status;
import tern.rpc.StatusCode;
import tern.rpc.StatusDetail;
import tern.rpc.StreamObserver;
import tern.rpc.netty.EmbeddedServer;
import tern.rpc.netty.triple.Http2Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests answers whose headers or trailers are larger than the client accepts. */
@Timeout(60)
class OversizedHeadersTest {

    /** The maximum size of headers that gRPC for Java accepts in a client, in bytes. */
    private static final int MOST = 8 << 10;

    private static final String LONG = "v".repeat(MOST);

    private final TripleSides sides = new TripleSides();
    private Http2Wire wire;

    /** A service whose answers have large metadata. */
    public interface Verbose {
        String headers(String text);

        String trailers(String text);

        String failure(String text);

        String nothing(String text);
    }

    private static final class VerboseServer implements Verbose {

        private static ServerContext context() {
            return Objects.requireNonNull(ServerContext.current());
        }

        @Override
        public String headers(String text) {
            context().responseHeaders().put("long", LONG);
            return text;
        }

        @Override
        public String trailers(String text) {
            context().responseMetadata().put("long", LONG);
            return text;
        }

        @Override
        public String failure(String text) {
            throw new RpcException(new Status(
                    StatusCode.NOT_FOUND, "there is none", List.of(new StatusDetail("a/b.C", new byte[MOST]))));
        }

        @Override
        public String nothing(String text) {
            return text;
        }
    }

    @BeforeEach
    void start() {
        RpcServer server = sides.serve(
                limits -> limits, builder -> builder.export(ServiceExport.of(Verbose.class, new VerboseServer())));
        wire = Http2Wire.open(server.port());
        wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2CodecUtil.SETTINGS_MAX_HEADER_LIST_SIZE, MOST));
    }

    @AfterEach
    void close() throws Exception {
        wire.close();
        sides.close();
    }

    private Answer call(int stream, String method) {
        wire.request(stream, "/" + Verbose.class.getName() + "/" + method, false);
        wire.message(stream, true, 0, Http2ServerTest.HELLO);
        return wire.answer(stream);
    }

    private static void assertStatus(Answer answer, String status, String message) {
        assertThat(answer.reset).isNull();
        assertThat(answer.header("grpc-status")).isEqualTo(status);
        assertThat(answer.header("grpc-message")).contains(message);
        assertThat(answer.header("tern-executed")).isEqualTo("yes");
        assertThat(answer.header("long")).isEmpty();
        assertThat(answer.header("grpc-status-details-bin")).isEmpty();
    }

    @Test
    void headersThatDoNotFitFailTheCall() {
        assertStatus(call(1, "headers"), "8", "the headers of the answer have");
    }

    @Test
    void trailersThatDoNotFitFailTheCall() {
        assertStatus(call(1, "trailers"), "8", "; the client accepts at most " + MOST);
    }

    @Test
    void failureWhoseDetailsDoNotFitKeepsItsStatus() {
        assertStatus(call(1, "failure"), "5", "there is none");
    }

    @Test
    void laterCallsOnTheConnectionAreAnswered() {
        call(1, "headers");

        assertThat(call(3, "nothing").header("grpc-status")).isEqualTo("0");
    }

    /** A service whose answers begin with large headers. */
    public interface Talker {
        StreamObserver<StringValue> talk(StreamObserver<StringValue> answers);
    }

    @Test
    void streamWhoseHeadersDoNotFitEndsForItsMethodToo() throws Exception {
        AtomicBoolean cancelled = new AtomicBoolean();
        Talker talker = answers -> {
            VerboseServer.context().responseHeaders().put("long", LONG);
            VerboseServer.context().onCancel(() -> cancelled.set(true));
            return answers;
        };
        byte[] bytes = Http2Wire.bytesOf(opened -> {
            opened.frame(
                    Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2CodecUtil.SETTINGS_MAX_HEADER_LIST_SIZE, MOST));
            opened.request(1, "/" + Talker.class.getName() + "/talk", false);
            opened.message(1, false, 0, StringValue.of("x").toByteArray());
        });

        try (EmbeddedServer server = new EmbeddedServer(
                        sides.protocols(), builder -> builder.export(ServiceExport.of(Talker.class, talker)));
                EmbeddedServer.Peer peer = server.connect()) {
            peer.send(bytes, 0, bytes.length);
            peer.run();

            assertThat(new String(peer.received(), ISO_8859_1)).contains("the headers of the answer have");
            assertThat(cancelled).as("the client has not reset the stream").isTrue();
        }
    }
}
