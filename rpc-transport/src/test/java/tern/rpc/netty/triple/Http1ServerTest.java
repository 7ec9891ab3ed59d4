package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.netty.triple.Http1Wire.Answer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests HTTP/1.x connections from the first byte until they are closed. */
@Timeout(120)
class Http1ServerTest {

    private static final int LIMIT = 100_000;
    private static final String HOST = "Host: localhost\r\n";

    @WireName("test.Desk")
    public interface Desk {

        /** Returns its argument. */
        String tell(String text);

        /** Blocks until the test lets the method return. */
        String hold(String text);

        /** Returns a string of the given length. */
        String letters(int count);

        /** Sends the given number of strings of a thousand letters each. */
        void stream(int count, StreamObserver<String> out);
    }

    private final TripleSides sides = new TripleSides();
    private final BlockingQueue<String> begun = new LinkedBlockingQueue<>();
    private final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();
    private final CountDownLatch letGo = new CountDownLatch(1);
    private final Desk desk = new Desk() {
        @Override
        public String tell(String text) {
            begun.add(text);
            return text;
        }

        @Override
        public String hold(String text) {
            ServerContext context = ServerContext.current();
            if (context != null) {
                context.onCancel(() -> cancelled.add(text));
            }
            begun.add(text);
            try {
                letGo.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return text;
        }

        @Override
        public String letters(int count) {
            begun.add("letters");
            return "x".repeat(count);
        }

        @Override
        public void stream(int count, StreamObserver<String> out) {
            for (int i = 0; i < count; i++) {
                out.onNext("x".repeat(1_000));
            }
            out.onCompleted();
        }
    };

    @AfterEach
    void close() throws Exception {
        letGo.countDown();
        sides.close();
    }

    private RpcServer serve(Duration slow) {
        return serve(ServerTransportSettings.onPort(0)
                .withMaxInFlight(100)
                .withMaxMessageBytes(LIMIT)
                .withFirstBytesTimeout(slow));
    }

    private RpcServer serve(ServerTransportSettings limits) {
        return sides.serve(
                limits, HttpSettings.defaults(), server -> server.export(ServiceExport.of(Desk.class, desk)));
    }

    private RpcServer serve() {
        return serve(Duration.ofSeconds(60));
    }

    private static String post(String method, String headers, String body) {
        return "POST /test.Desk/" + method + " HTTP/1.1\r\n" + HOST + headers + "Content-Length: " + body.length()
                + "\r\n\r\n" + body;
    }

    private static String post(String method, String body) {
        return post(method, "", body);
    }

    private static RawSocket send(RawSocket socket, String text) {
        return socket.send(text.getBytes(ISO_8859_1));
    }

    private static String begun(BlockingQueue<String> told) throws InterruptedException {
        return String.valueOf(told.poll(30, TimeUnit.SECONDS));
    }

    // Pipelined requests

    @Test
    void requestsSentWithoutWaitingAreAnsweredInOrder() throws InterruptedException {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            StringBuilder requests = new StringBuilder(post("hold", "\"first\""));
            for (int i = 0; i < 100; i++) {
                requests.append(post("tell", "\"" + i + '"'));
            }
            send(socket, requests.toString());
            assertThat(begun(begun)).isEqualTo("first");
            letGo.countDown();

            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"first\"");
            for (int i = 0; i < 100; i++) {
                assertThat(Http1Wire.read(socket).text()).isEqualTo("\"" + i + '"');
            }
            assertThat(begun)
                    .containsExactlyElementsOf(
                            IntStream.range(0, 100).mapToObj(String::valueOf).toList());
        }
    }

    @Test
    void requestDoesNotBeginBeforeTheOneBeforeItIsAnswered() throws InterruptedException {
        RpcServer server = serve();
        try (RawSocket socket = RawSocket.connect(server.port());
                RawSocket other = RawSocket.connect(server.port())) {
            send(socket, post("hold", "\"first\"") + post("tell", "\"second\""));
            assertThat(begun(begun)).isEqualTo("first");

            send(other, post("tell", "\"of another\""));
            assertThat(Http1Wire.read(other).text()).isEqualTo("\"of another\"");

            assertThat(begun).containsExactly("of another");
        }
    }

    /** Only a few of the 200 answers fit into the socket buffers. */
    @Test
    void noMoreAnswersAreCreatedForAPeerThatDoesNotReadThem() {
        int requests = 200;
        try (RawSocket socket =
                RawSocket.connect(serve(ServerTransportSettings.onPort(0)).port())) {
            send(socket, post("letters", "1000000").repeat(requests));
            for (int i = 0; i < requests; i++) {
                assertThat(Http1Wire.read(socket).body()).hasSize(1_000_002);
                assertThat(begun.size()).isLessThan(i + 50);
            }
        }
    }

    // Connection lifetime

    @ParameterizedTest
    @ValueSource(strings = {"", "Connection: keep-alive\r\n", "Connection: Keep-Alive, TE\r\n"})
    void connectionStaysOpenByDefault(String header) {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            for (int i = 0; i < 2; i++) {
                send(socket, post("tell", header, "\"" + i + '"'));

                Answer answer = Http1Wire.read(socket);
                assertThat(answer.text()).isEqualTo("\"" + i + '"');
                assertThat(answer.header("connection")).isEqualTo(header.isEmpty() ? "" : "keep-alive");
            }
        }
    }

    @Test
    void connectionEndsWithTheAnswerIfTheClientSaysSo() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, post("tell", "Connection: close\r\n", "\"one\"") + post("tell", "\"never\""));

            Answer answer = Http1Wire.read(socket);
            assertThat(answer.text()).isEqualTo("\"one\"");
            assertThat(answer.header("connection")).isEqualTo("close");
            assertThat(socket.isClosedByPeer()).isTrue();
            assertThat(begun).containsExactly("one");
        }
    }

    @Test
    void oldVersionEndsWithTheAnswerUnlessItAsksForMore() {
        String old = post("tell", "", "\"one\"").replace("HTTP/1.1", "HTTP/1.0").replace(HOST, "");
        String asking = post("tell", "Connection: keep-alive\r\n", "\"one\"").replace("HTTP/1.1", "HTTP/1.0");
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, asking);
            assertThat(Http1Wire.read(socket).header("connection")).isEqualTo("keep-alive");

            send(socket, old);
            assertThat(Http1Wire.read(socket).header("connection")).isEqualTo("close");
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void oldVersionGetsAStreamThatEndsWithItsConnection() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, post("stream", "2").replace("HTTP/1.1", "HTTP/1.0"));

            Answer head = Http1Wire.readHead(socket);
            assertThat(head.head()).doesNotContainKeys("transfer-encoding", "content-length");
            assertThat(head.header("connection")).isEqualTo("close");
            String event = "data:\"" + "x".repeat(1_000) + "\"\n\n";
            assertThat(new String(socket.readFully(2 * event.length()), ISO_8859_1))
                    .isEqualTo(event + event);
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void refusalLeavesTheConnectionOpenWhereTheRestOfTheRequestIsShort() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            String refused = post("nothing", "\"" + "x".repeat(50_000) + '"');
            // the server refuses the request before the rest of it arrives
            send(socket, refused.substring(0, 200));
            Answer answer = Http1Wire.read(socket);
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.header("connection")).isEmpty();
            send(socket, refused.substring(200) + post("tell", "\"next\""));

            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"next\"");
        }
    }

    @Test
    void refusalEndsTheConnectionWhereTheRestOfTheRequestIsLong() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, post("nothing", "\"" + "x".repeat(80_000) + '"').substring(0, 200));

            Answer answer = Http1Wire.read(socket);
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.header("connection")).isEqualTo("close");
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void drainingServerEndsTheConnectionWithTheNextAnswer() throws Exception {
        RpcServer server = serve();
        try (RawSocket busy = RawSocket.connect(server.port());
                RawSocket idle = RawSocket.connect(server.port())) {
            send(idle, post("tell", "\"before\""));
            assertThat(Http1Wire.read(idle).header("connection")).isEmpty();
            send(busy, post("hold", "\"busy\""));
            begun(begun);
            begun(begun);
            // the short drain time ends while a call is running; both connections and the call continue
            server.drain(Duration.ofMillis(1));
            assertThat(isRefused(server.port())).isTrue();

            send(idle, post("tell", "\"during\""));
            Answer during = Http1Wire.read(idle);
            assertThat(during.text()).isEqualTo("\"during\"");
            assertThat(during.header("connection")).isEqualTo("close");
            assertThat(idle.isClosedByPeer()).isTrue();

            letGo.countDown();
            Answer last = Http1Wire.read(busy);
            assertThat(last.text()).isEqualTo("\"busy\"");
            assertThat(last.header("connection")).isEqualTo("close");
        }
    }

    private static boolean isRefused(int port) {
        try (RawSocket socket = RawSocket.connect(port)) {
            return false;
        } catch (java.io.UncheckedIOException refused) {
            return true;
        }
    }

    // Request bodies

    @Test
    void clientGets100ContinueIfItsBodyIsNeeded() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            String request = post("tell", "Expect: 100-continue\r\n", "\"hi\"");
            send(socket, request.substring(0, request.length() - 4));
            assertThat(Http1Wire.readHead(socket).status()).isEqualTo(100);

            send(socket, "\"hi\"");
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"hi\"");
        }
    }

    @Test
    void clientGetsNo100ContinueIfItsBodyIsNotNeeded() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            String request = post("nothing", "Expect: 100-continue\r\n", "\"hi\"");
            send(socket, request.substring(0, request.length() - 4));

            Answer answer = Http1Wire.read(socket);
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.header("connection")).isEqualTo("close");
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void bodyOfTheGreatestSizeIsReadAndOneByteMoreRefused() {
        int limit = 8 << 20;
        RpcServer server = serve(ServerTransportSettings.onPort(0));
        try (RawSocket socket = RawSocket.connect(server.port())) {
            String text = '"' + "x".repeat(limit - 2) + '"';
            send(socket, post("tell", text));
            Answer answer = Http1Wire.read(socket);
            assertThat(answer.status()).isEqualTo(200);
            assertThat(answer.body()).hasSize(limit);
            begun.clear();

            // the headers announce a body above the limit, so the server needs no more bytes to refuse it
            send(socket, post("tell", text + ' ').substring(0, 1_000));
            assertTooLarge(socket, limit);
        }
        assertThat(begun).isEmpty();
    }

    @Test
    void bodyInChunksIsRefusedWhileItComes() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, "POST /test.Desk/tell HTTP/1.1\r\n" + HOST + "Transfer-Encoding: chunked\r\n\r\n");
            send(socket, "1\r\n\"\r\n" + ("400\r\n" + "x".repeat(1_024) + "\r\n").repeat(LIMIT / 1_024 + 1));

            // the server answers before the request body has ended
            assertTooLarge(socket, LIMIT);
        }
        assertThat(begun).isEmpty();
    }

    private static void assertTooLarge(RawSocket socket, int limit) {
        Answer answer = Http1Wire.read(socket);
        assertThat(answer.status()).isEqualTo(413);
        assertThat(answer.text())
                .contains(String.valueOf(limit), "rpc.limits.max-request", "\"code\":\"resource_exhausted\"");
        assertThat(answer.header("connection")).isEqualTo("close");
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void answerThatIsTooLargeIsAnError() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, post("letters", String.valueOf(LIMIT)) + post("tell", "\"next\""));

            Answer answer = Http1Wire.read(socket);
            assertThat(answer.status()).isEqualTo(429);
            assertThat(answer.text()).contains("rpc.limits.max-response");
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"next\"");
        }
    }

    @Test
    void streamComesInChunks() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, post("stream", "3000") + post("tell", "\"next\""));

            Answer answer = Http1Wire.read(socket);
            assertThat(answer.chunks()).hasSize(3_000).allMatch(chunk -> chunk.length() == 1_000 + 9);
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"next\"");
        }
    }

    @Test
    void answerToHeadHasNoBody() {
        try (RawSocket socket = RawSocket.connect(serve().port())) {
            send(socket, "HEAD /test.Desk/nothing HTTP/1.1\r\n" + HOST + "\r\n" + post("tell", "\"next\""));

            Answer answer = Http1Wire.readHead(socket);
            assertThat(answer.status()).isEqualTo(404);
            assertThat(answer.header("content-length")).isNotEqualTo("0");
            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"next\"");
        }
    }

    // Slow clients

    @ParameterizedTest
    @ValueSource(
            strings = {"POST /test", "POST /test.Desk/tell HTTP/1.1\r\n", "POST /test.Desk/tell HTTP/1.1\r\nHost: l"})
    void headThatDoesNotComeInTimeEndsTheConnection(String start) {
        RpcServer server = serve(Duration.ofMillis(500));
        try (RawSocket first = RawSocket.connect(server.port())) {
            send(first, start);
            assertSlow(Http1Wire.read(first), 408);
            assertThat(first.isClosedByPeer()).isTrue();
        }
        try (RawSocket later = RawSocket.connect(server.port())) {
            send(later, post("tell", "\"one\""));
            assertThat(Http1Wire.read(later).status()).isEqualTo(200);
            send(later, start);
            assertSlow(Http1Wire.read(later), 408);
            assertThat(later.isClosedByPeer()).isTrue();
        }
    }

    @Test
    void bodyThatDoesNotComeInTimeEndsTheConnection() {
        try (RawSocket socket = RawSocket.connect(serve(Duration.ofMillis(500)).port())) {
            String request = post("tell", "\"one\"");
            send(socket, request.substring(0, request.length() - 1));

            assertSlow(Http1Wire.read(socket), 504);
        }
    }

    @Test
    void restOfARefusedRequestThatDoesNotComeInTimeEndsTheConnection() {
        try (RawSocket socket = RawSocket.connect(serve(Duration.ofMillis(500)).port())) {
            String request = post("nothing", "\"one\"");
            send(socket, request.substring(0, request.length() - 1));

            assertThat(Http1Wire.read(socket).status()).isEqualTo(404);
            assertThat(socket.isClosedByPeer()).isTrue();
        }
    }

    private static void assertSlow(Answer answer, int status) {
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text()).contains("500 ms", "rpc.limits.first-bytes-timeout", "deadline_exceeded");
    }

    // Lost clients

    @Test
    void callIsCancelledWhenItsClientIsGone() throws Exception {
        RpcServer server = serve();
        try (RawSocket socket = RawSocket.connect(server.port())) {
            send(socket, post("hold", "\"lost\"") + post("tell", "\"never\""));
            assertThat(begun(begun)).isEqualTo("lost");
        }

        assertThat(begun(cancelled)).isEqualTo("lost");
        letGo.countDown(); // the method returns only after the client has disconnected
        Await.until("its connection is gone", () -> server.connections() == 0);
        assertThat(begun).isEmpty();
    }

    @Test
    void incompleteRequestIsNotCounted() throws Exception {
        RpcServer server = serve();
        try (RawSocket socket = RawSocket.connect(server.port())) {
            send(socket, post("tell", "\"lost\"").substring(0, 60));
            Await.until("it is connected", () -> server.connections() == 1);
        }
        Await.until("its connection is gone", () -> server.connections() == 0);

        Thread draining = new Thread(() -> server.drain(Duration.ofSeconds(30)));
        try (RawSocket socket = RawSocket.connect(server.port())) {
            send(socket, post("hold", "\"held\""));
            begun(begun);
            draining.start();
            Await.until("nobody is accepted any more", () -> isRefused(server.port()));
            letGo.countDown();

            assertThat(Http1Wire.read(socket).text()).isEqualTo("\"held\"");
        }
        draining.join();
    }
}
