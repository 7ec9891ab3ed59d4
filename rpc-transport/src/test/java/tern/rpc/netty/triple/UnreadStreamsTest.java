package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.example.ledger.Period;
import com.google.protobuf.MessageLite;
import com.google.protobuf.StringValue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http2Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests streams whose callers read nothing or almost nothing. Such a stream must occupy no worker and little memory.
 */
@Timeout(120)
class UnreadStreamsTest {

    private static final String WORDS = "/" + Words.class.getName() + "/";
    private static final String POLITE = "/" + Polite.class.getName() + "/";
    private static final int WORKERS = 10;
    private static final int STREAMS = 15;

    /** The number of messages in a stream, which is far more than the server buffers. */
    private static final int MANY = 1_000_000;

    /** A service whose streams never block a worker. */
    public interface Polite {

        /** @param count the number of messages, optionally followed by a space and the size of each message */
        Flux<StringValue> publish(StringValue count);

        void whenReady(StringValue count, StreamObserver<StringValue> answers);

        /**
         * Sends without waiting for the caller.
         *
         * @param kilobytes the number of messages; each has 1 KB
         */
        void push(StringValue kilobytes, StreamObserver<StringValue> answers);
    }

    private static final class PoliteServer implements Polite {

        private final AtomicInteger running = new AtomicInteger();

        @Override
        public Flux<StringValue> publish(StringValue count) {
            String[] parts = count.getValue().split(" ", 2);
            String padding = parts.length == 1 ? "" : "x".repeat(Integer.parseInt(parts[1]));
            return Flux.range(1, Integer.parseInt(parts[0])).map(i -> StringValue.of("number " + i + padding));
        }

        @Override
        public void whenReady(StringValue count, StreamObserver<StringValue> answers) {
            int[] left = {Integer.parseInt(count.getValue())};
            running.incrementAndGet();
            Objects.requireNonNull(ServerContext.current()).onCancel(running::decrementAndGet);
            answers.onReady(() -> {
                while (left[0] > 0 && answers.isReady()) {
                    left[0]--;
                    answers.onNext(StringValue.of("another one"));
                }
                if (left[0] == 0) {
                    left[0] = -1;
                    running.decrementAndGet();
                    answers.onCompleted();
                }
            });
        }

        @Override
        public void push(StringValue kilobytes, StreamObserver<StringValue> answers) {
            StringValue kilobyte = StringValue.of("x".repeat(1000));
            for (int i = 0; i < Integer.parseInt(kilobytes.getValue()); i++) {
                answers.onNext(kilobyte);
            }
            answers.onCompleted();
        }
    }

    /** A protocol that supports streams, with a request whose answer is a stream of many small messages. */
    enum Form {
        GRPC("application/grpc", WORDS + "count", framed(StringValue.of(String.valueOf(MANY)))),
        GENERATED(
                "application/grpc",
                "/ledger.v1.Ledger/Statement",
                framed(Period.newBuilder().setAccount("a").setEntries(MANY).build())),
        GRPC_WEB("application/grpc-web+proto", WORDS + "count", framed(StringValue.of(String.valueOf(MANY)))),
        CONNECT("application/connect+proto", WORDS + "count", framed(StringValue.of(String.valueOf(MANY)))),
        EVENTS("application/json", WORDS + "count", "\"" + MANY + "\"");

        private final String type;
        private final String path;
        private final String body; // the body of the request, with one character per byte

        Form(String type, String path, String body) {
            this.type = type;
            this.path = path;
            this.body = body;
        }

        void send(Http2Wire wire, int stream) {
            Http2Headers head = new DefaultHttp2Headers(false)
                    .method("POST")
                    .scheme("http")
                    .path(path)
                    .authority("localhost")
                    .set("content-type", type)
                    .set("accept", "text/event-stream")
                    .set("te", "trailers");
            if (this == CONNECT) {
                head.set("connect-protocol-version", "1");
            }
            wire.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, stream, Http2Wire.block(head));
            wire.frame(Http2Wire.DATA, Http2Wire.END_STREAM, stream, body.getBytes(ISO_8859_1));
        }
    }

    private static String framed(MessageLite message) {
        return new String(Http2Script.framed(0, message.toByteArray()), ISO_8859_1);
    }

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final TripleSides sides = new TripleSides();
    private final List<Http2Wire> open = new ArrayList<>();
    private final PoliteServer polite = new PoliteServer();
    private RpcServer server;

    private void serve(UnaryOperator<ServerTransportSettings> limits) {
        server = sides.serve(
                limits,
                settings -> settings.workers(WORKERS, 2 * WORKERS)
                        .maxStreamWait(Duration.ofMillis(50))
                        .meters(new RpcMeters(registry, Slo.DEFAULT))
                        .export(ServiceExport.of(Words.class, new WordsServer()))
                        .export(ServiceExport.of(Polite.class, polite))
                        .export(GrpcServices.export(new LedgerService())));
    }

    @AfterEach
    void close() throws Exception {
        open.forEach(Http2Wire::close);
        Await.until("nothing is kept for anybody", () -> unsent() == 0);
        sides.close();
    }

    private double unsent() {
        return registry.get(RpcMeter.SERVER_UNSENT.key()).gauge().value();
    }

    private Http2Wire connect() {
        Http2Wire wire = Http2Wire.open(server.port());
        open.add(wire);
        return wire;
    }

    /** Opens a connection whose streams have an initial flow-control window of 0. */
    private Http2Wire withoutWindow() {
        Http2Wire wire = connect();
        wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 0));
        return wire;
    }

    private static void openWindows(Http2Wire wire) {
        wire.openWindow(0, 1 << 30);
        wire.frame(Http2Wire.SETTINGS, 0, 0, Http2Script.settings(Http2Script.INITIAL_WINDOW_SIZE, 1 << 30));
    }

    private void assertOthersAreServed() {
        Http2Wire wire = connect();
        for (int stream = 1; stream < 40; stream += 2) {
            wire.request(stream, WORDS + "shout", false);
            wire.message(stream, true, 0, StringValue.of("hello").toByteArray());
            assertThat(wire.answer(stream).header("grpc-status")).isEqualTo("0");
        }
    }

    private void awaitFreeWorkers() {
        Await.until("no worker waits", () -> server.workers().active() == 0);
    }

    @ParameterizedTest
    @EnumSource
    void streamsWithoutWindowHoldNoWorkers(Form form) {
        serve(limits -> limits);
        Http2Wire wire = withoutWindow();
        for (int i = 0; i < STREAMS; i++) {
            form.send(wire, 1 + 2 * i);
        }

        assertOthersAreServed();
        Await.until("each stream keeps what it may", () -> unsent() > STREAMS * 900_000.0);
        awaitFreeWorkers();

        // the asserted limit includes the counted memory of the frames' objects
        assertThat(unsent()).isLessThan(STREAMS * 3_000_000.0);
        openWindows(wire);
        for (int i = 0; i < STREAMS; i++) {
            Answer answer = wire.answer(1 + 2 * i);
            assertThat(answer.header("grpc-message") + answer.text())
                    .contains("1048576 (set by rpc.limits.max-unsent-per-stream)");
            assertThat(answer.header("grpc-status")).isIn("8", "");
        }
    }

    @Test
    void windowsThatOpenByteByByteHoldNoWorkers() {
        serve(limits -> limits);
        Http2Wire wire = withoutWindow();
        for (int i = 0; i < WORKERS; i++) {
            Form.GRPC.send(wire, 1 + 2 * i);
        }
        Await.until("every worker waits", () -> server.workers().active() == WORKERS);

        Await.until("no worker waits", () -> {
            for (int i = 0; i < WORKERS; i++) {
                wire.openWindow(1 + 2 * i, 1);
            }
            return server.workers().active() == 0;
        });

        assertOthersAreServed();
    }

    @Test
    void unreadSocketsHoldNoWorkers() throws Exception {
        serve(limits -> limits);
        byte[] body = ("\"" + MANY + "\"").getBytes(US_ASCII);
        List<RawSocket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < WORKERS; i++) {
                RawSocket socket = RawSocket.connect(server.port());
                sockets.add(socket);
                socket.send(("POST " + WORDS + "count HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n"
                                + "content-type: application/json\r\ncontent-length: " + body.length + "\r\n\r\n")
                        .getBytes(UTF_8));
                socket.send(body);
            }
            // The test waits only for the unsent bytes of a single stream, which are at most 1 MiB. The server might
            // end one stream before the other streams have queued this many bytes.
            Await.until("much waits", () -> unsent() > 900_000);

            awaitFreeWorkers();
            assertOthersAreServed();
        } finally {
            for (RawSocket socket : sockets) {
                socket.close();
            }
        }
    }

    @Test
    void streamsThatCheckReadinessContinueWhenTheWindowOpens() {
        serve(limits -> limits);
        Http2Wire wire = withoutWindow();
        List<String> methods = List.of("publish", "whenReady");
        for (int i = 0; i < STREAMS; i++) {
            wire.request(1 + 2 * i, POLITE + methods.get(i % 2), false);
            wire.message(1 + 2 * i, true, 0, StringValue.of("20000").toByteArray());
        }
        Await.until("each stream has sent what it may", () -> unsent() > STREAMS * (31 << 10));
        awaitFreeWorkers();
        // the asserted limit includes the counted memory of the frames' objects
        assertThat(unsent()).isLessThan(STREAMS * 450_000.0);

        openWindows(wire);

        for (int i = 0; i < STREAMS; i++) {
            assertThat(wire.answer(1 + 2 * i).header("grpc-status")).isEqualTo("0");
        }
    }

    @Test
    void readerThatIsSlowForAWhileGetsTheWholeStream() {
        serve(limits -> limits);
        Http2Wire wire = withoutWindow();
        wire.request(1, WORDS + "count", false);
        // the messages of the whole stream occupy fewer bytes than the server buffers for one stream
        wire.message(1, true, 0, StringValue.of("20000").toByteArray());
        awaitFreeWorkers();

        openWindows(wire);

        Answer answer = wire.answer(1);
        assertThat(answer.header("grpc-status")).isEqualTo("0");
        assertThat(answer.data.size()).isGreaterThan(200_000);
    }

    /**
     * Each stream sends messages only while it is ready, but all streams together exceed the memory for unread answers.
     */
    @Test
    void readyStreamsThatTheServerEndsAreNotified() {
        serve(limits -> limits.withMaxUnsentBytes(1 << 20, 1 << 20));
        Http2Wire wire = withoutWindow();
        int streams = 60;
        for (int i = 0; i < streams; i++) {
            wire.request(1 + 2 * i, POLITE + "whenReady", false);
            wire.message(1 + 2 * i, true, 0, StringValue.of("5000").toByteArray());
        }
        Await.until("three quarters are used", () -> unsent() > 700_000);
        awaitFreeWorkers();

        openWindows(wire);

        int ended = 0;
        for (int i = 0; i < streams; i++) {
            Answer answer = wire.answer(1 + 2 * i);
            if (!answer.header("grpc-status").equals("0")) {
                ended++;
                assertThat(answer.header("grpc-status")).isEqualTo("8");
                assertThat(answer.header("grpc-message")).doesNotContain("isReady");
            }
        }
        assertThat(ended).isPositive();
        Await.until("every method knows the end of its stream", () -> polite.running.get() == 0);
    }

    @Test
    void allStreamsTogetherKeepALimitedAmountAndLeaveSomeOfItToOthers() {
        serve(limits -> limits.withMaxUnsentBytes(1 << 20, 4 << 20));
        Http2Wire greedy = withoutWindow();
        for (int i = 0; i < STREAMS; i++) {
            Form.GRPC.send(greedy, 1 + 2 * i);
        }
        Await.until("three quarters are used", () -> unsent() > 3 << 20);
        awaitFreeWorkers();
        assertThat(unsent()).isLessThan(3.3 * (1 << 20));

        double before = unsent();
        Http2Wire modest = withoutWindow();
        modest.request(1, POLITE + "push", false);
        // even if each message is queued separately, its objects (512 bytes) keep the connection below its limit of 256
        // KiB
        modest.message(1, true, 0, StringValue.of("150").toByteArray());
        Await.until("the whole other stream waits", () -> unsent() > before + 140_000);
        awaitFreeWorkers();
        openWindows(modest);
        assertThat(modest.answer(1).header("grpc-status")).isEqualTo("0");

        openWindows(greedy);
        int refused = 0;
        for (int i = 0; i < STREAMS; i++) {
            Answer answer = greedy.answer(1 + 2 * i);
            assertThat(answer.header("grpc-status")).isEqualTo("8");
            if (answer.header("grpc-message").contains("of 4194304 bytes")
                    && answer.header("grpc-message").contains("rpc.limits.max-unsent-answers")) {
                refused++;
            }
        }
        assertThat(refused).isPositive();
    }

    /** If only one connection has unread answers, it may use three quarters of the memory for unread answers. */
    @ParameterizedTest
    @EnumSource(names = {"GRPC", "GRPC_WEB"})
    void loneConnectionMayUseItsWholeShare(Form form) {
        serve(limits -> limits.withMaxUnsentBytes(1 << 20, 16 << 20));
        Http2Wire lone = withoutWindow();
        int streams = 12;
        for (int i = 0; i < streams; i++) {
            Http2Headers head = Http2Wire.head(POLITE + "publish", form.type).set("te", "trailers");
            lone.frame(Http2Wire.HEADERS, Http2Wire.END_HEADERS, 1 + 2 * i, Http2Wire.block(head));
            lone.message(
                    1 + 2 * i, true, 0, StringValue.of("2 " + ((1 << 20) - 64)).toByteArray());
        }
        Await.until("the first message of each stream waits", () -> unsent() > streams * 0.99 * (1 << 20));

        openWindows(lone);

        for (int i = 0; i < streams; i++) {
            Answer answer = lone.answer(1 + 2 * i);
            assertThat(answer.header("grpc-message")).isEmpty();
            assertThat(answer.data.size()).isGreaterThan(2 * ((1 << 20) - 64));
            String end = form == Form.GRPC ? "grpc-status:" + answer.header("grpc-status") : tail(answer);
            assertThat(end).contains("grpc-status:0");
        }
    }

    private static String tail(Answer answer) {
        String body = answer.data.toString(ISO_8859_1);
        return body.substring(body.length() - 100);
    }
}
