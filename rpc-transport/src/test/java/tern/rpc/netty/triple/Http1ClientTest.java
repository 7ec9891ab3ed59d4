package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.example.wire.GreetService;
import com.example.wire.StreamService;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RpcMethod;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.RawServer;
import tern.rpc.netty.peer.RawSocket;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientConnection;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests a JSON client over HTTP/1.1: its requests, its reaction to unusual answers, and the number of its connections.
 */
@Timeout(60)
class Http1ClientTest {

    interface Notes {
        String echo(@Nullable String text);

        @RpcMethod(oneWay = true)
        void tell(String text);

        CompletableFuture<String> later(String text);
    }

    private final EventLoops loops = EventLoops.start(1);
    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private final RawServer server = RawServer.start();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable resource : open) {
            resource.close();
        }
        server.close();
        loops.close();
    }

    private Notes notes() {
        return notes(ClientTransportSettings.named("shop"));
    }

    private Notes notes(ClientTransportSettings settings) {
        AtomicReference<ClientConnection> opened = new AtomicReference<>();
        NettyClientTransport transport = new NettyClientTransport(settings, loops, new Http1ClientProtocol(codecs));
        RpcClient client = RpcClient.builder()
                .transport(new ShownTransport(transport, opened::set))
                .timeout(Duration.ofSeconds(20))
                .build();
        open.add(client);
        Notes notes = client.refer(ServiceReference.to(Notes.class, new StaticEndpoints(List.of(server.endpoint())))
                .protocol(Http1ClientProtocol.NAME)
                .group("g")
                .version("2")
                .build());
        Await.until("the first connection is there", () -> opened.get().isAvailable());
        return notes;
    }

    interface Repo<T> {
        T get(String id);
    }

    @Test
    void genericInterfaceIsRefusedBecauseJsonNamesNoClass() {
        NettyClientTransport transport =
                new NettyClientTransport(ClientTransportSettings.named("shop"), loops, new Http1ClientProtocol(codecs));
        RpcClient client = RpcClient.builder().transport(transport).build();
        open.add(client);

        assertThatThrownBy(() ->
                        client.refer(ServiceReference.to(Repo.class, new StaticEndpoints(List.of(server.endpoint())))
                                .protocol(Http1ClientProtocol.NAME)
                                .build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the protocol http cannot tell which class to read: Repo.get, result: T does not name a"
                        + " class. Declare an interface that sets the type parameter, such as interface"
                        + " ItemRepo extends Repo<Item>, and use it for the service and the reference");
    }

    interface Finder {
        String find(Long id);

        String find(List<Long> ids);

        String other(String text);
    }

    @Test
    void methodsWithTheSamePathAreRefusedAtTheStart() {
        ServiceDescriptor service = ServiceDescriptor.of(Finder.class);

        assertThatThrownBy(() -> new Http1ClientProtocol(codecs).prepareReference(service))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("Finder/find: find~L fits find(Long) and find(List), which paths cannot tell apart, so the"
                        + " protocol http cannot call them; give one of them another name, or refer to it with protocol"
                        + " tri");
    }

    /** Reads a request. Returns its request line and headers without the empty line, and drops the body. */
    private static String head(RawSocket socket) {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) socket.readFully(1)[0]);
        }
        int length = Integer.parseInt(head.toString().replaceAll("(?s).*content-length: (\\d+).*", "$1"));
        return head + new String(socket.readFully(length), UTF_8);
    }

    private static void answer(RawSocket socket, String answer) {
        socket.send(answer.getBytes(UTF_8));
    }

    private static void answerJson(RawSocket socket, String json) {
        answer(
                socket,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " + json.length() + "\r\n\r\n"
                        + json);
    }

    @Test
    void requestNamesServiceMethodGroupVersionAndTime() {
        Notes notes = CallOptions.none().header("tenant", "blue").on(notes());
        CompletableFuture<String> result = notes.later("hi");
        RawSocket socket = server.next();

        String request = head(socket);
        answerJson(socket, "\"there\"");

        assertThat(request)
                .startsWith("POST /" + Notes.class.getName() + "/later HTTP/1.1\r\nhost: 127.0.0.1:" + server.port())
                .contains("\r\ncontent-type: application/json\r\n")
                .contains("\r\naccept: application/json\r\n")
                .contains("\r\ntri-service-group: g\r\n")
                .contains("\r\ntri-service-version: 2\r\n")
                .contains("\r\ntri-consumer-appname: shop\r\n")
                .contains("\r\ntenant: blue\r\n")
                .containsPattern("\r\ntri-service-timeout: (20000|1\\d{4})\r\n")
                .endsWith("\r\ncontent-length: 4\r\n\r\n\"hi\"");
        assertThat(result.join()).isEqualTo("there");
    }

    @Test
    void oneConnectionServesCallsThatFollowEachOther() {
        Notes notes = notes();
        CompletableFuture<String> first = notes.later("1");
        RawSocket socket = server.next();
        head(socket);
        answerJson(socket, "\"one\"");
        assertThat(first.join()).isEqualTo("one");
        int connections = server.accepted();

        for (int i = 0; i < 10; i++) {
            CompletableFuture<String> next = notes.later("next");
            head(socket);
            answerJson(socket, "\"" + i + "\"");
            assertThat(next.join()).isEqualTo(String.valueOf(i));
        }

        assertThat(server.accepted()).isEqualTo(connections);
    }

    /** The rest of the request might never be read, so the next request must not wait behind it. */
    @Test
    void connectionOfARequestThatWasAnsweredBeforeItWasReadIsNotUsedAgain() {
        Notes notes = notes();
        CompletableFuture<String> large = notes.later("x".repeat(7 << 20));
        RawSocket socket = server.next();
        socket.readFully(10);
        answerJson(socket, "\"early\"");
        assertThat(large.join()).isEqualTo("early");

        CompletableFuture<String> next = notes.later("next");
        RawSocket other = server.next();
        head(other);
        answerJson(other, "\"second\"");

        assertThat(next.join()).isEqualTo("second");
    }

    @Test
    void callsAtTheSameTimeHaveConnectionsOfTheirOwn() {
        Notes notes = notes();
        CompletableFuture<String> slow = notes.later("slow");
        CompletableFuture<String> fast = notes.later("fast");
        List<RawSocket> sockets = List.of(server.next(), server.next());
        List<String> requests = sockets.stream().map(Http1ClientTest::head).toList();
        int fastOne = requests.get(0).endsWith("\"fast\"") ? 0 : 1;

        answerJson(sockets.get(fastOne), "\"first\"");
        assertThat(fast.join()).isEqualTo("first");
        assertThat(slow).isNotDone();
        answerJson(sockets.get(1 - fastOne), "\"second\"");

        assertThat(slow.join()).isEqualTo("second");
    }

    @Test
    void callBeyondTheLimitIsRefusedAsNotExecuted() {
        Notes notes = notes(ClientTransportSettings.named("shop").withMaxInFlight(2));
        CompletableFuture<String> first = notes.later("1");
        CompletableFuture<String> second = notes.later("2");

        RpcException refused = catchThrowableOfType(RpcException.class, () -> notes.echo("3"));

        assertThat(refused.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(refused.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(refused).hasMessageContaining("2 of 2 connections").hasMessageContaining("rpc.limits");
        assertThat(List.of(first, second)).noneMatch(CompletableFuture::isDone);
    }

    @Test
    void cancelledCallClosesItsConnection() {
        Notes notes = notes();
        CompletableFuture<String> given = notes.later("x");
        RawSocket socket = server.next();
        head(socket);

        given.cancel(true);

        assertThat(socket.isClosedByPeer()).isTrue();
        CompletableFuture<String> next = notes.later("y");
        RawSocket other = server.next();
        head(other);
        answerJson(other, "\"fine\"");
        assertThat(next.join()).isEqualTo("fine");
    }

    @Test
    void oneWayCallDoesNotWaitForItsAnswer() {
        Notes notes = notes();

        notes.tell("news");

        assertThat(head(server.next())).endsWith("\"news\"");
        CompletableFuture<String> next = notes.later("x");
        RawSocket other = server.next();
        head(other);
        answerJson(other, "\"ok\"");
        assertThat(next.join()).isEqualTo("ok");
    }

    @Test
    void connectionOfAOneWayCallThatIsNeverAnsweredIsClosedAtItsDeadline() {
        Notes notes = CallOptions.none().timeout(Duration.ofSeconds(2)).on(notes());

        notes.tell("news");

        RawSocket socket = server.next();
        head(socket);
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void unencodableCallDoesNotCostAConnection() {
        Notes notes = notes();
        CompletableFuture<String> first = notes.later("1");
        RawSocket socket = server.next();
        head(socket);
        answerJson(socket, "\"one\"");
        assertThat(first.join()).isEqualTo("one");
        int connections = server.accepted();
        Notes bad = CallOptions.none().header("tenant", "bl\u00fce").on(notes);

        assertThatThrownBy(() -> bad.echo("x")).hasMessageContaining("U+00FC");

        CompletableFuture<String> next = notes.later("2");
        head(socket);
        answerJson(socket, "\"two\"");
        assertThat(next.join()).isEqualTo("two");
        assertThat(server.accepted()).isEqualTo(connections);
    }

    @Test
    void answerInChunksAndBehindAContinueIsRead() {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        head(socket);

        socket.sendByteByByte(("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        + "Transfer-Encoding: chunked\r\nblob-bin: AQI=\r\n\r\n3\r\n\"he\r\n3\r\ny\" \r\n0\r\n\r\n")
                .getBytes(UTF_8));

        assertThat(result.join()).isEqualTo("hey");
    }

    @Test
    void interimAnswersWithoutEndCloseTheConnection() {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        head(socket);

        answer(socket, "HTTP/1.1 100 Continue\r\n\r\n".repeat(17));

        assertThatThrownBy(result::join)
                .hasCauseInstanceOf(RpcException.class)
                .hasMessageContaining("more than 16 interim answers (1xx)");
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void compressedAnswerIsUnpacked() throws IOException {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        assertThat(head(socket)).contains("\r\naccept-encoding: gzip\r\n");
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write("\"unpacked\"".getBytes(UTF_8));
        }

        answer(
                socket,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: "
                        + packed.size() + "\r\n\r\n");
        socket.send(packed.toByteArray());

        assertThat(result.join()).isEqualTo("unpacked");
    }

    @ParameterizedTest
    @ValueSource(strings = {"200 OK", "500 No"})
    void answerThatIsTooLargeWhenUnpackedNamesMethodAndAddress(String status) throws IOException {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        head(socket);
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(new byte[20 << 20]);
        }

        answer(
                socket,
                "HTTP/1.1 " + status + "\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
                        + "content-length: " + packed.size() + "\r\n\r\n");
        socket.send(packed.toByteArray());

        RpcException failure = (RpcException)
                catchThrowableOfType(CompletionException.class, result::join).getCause();
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure)
                .hasMessageContainingAll("/later", "the answer of " + server.endpoint(), "rpc.limits.max-response");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "200 OK | content-type: text/html | <p> | INTERNAL | YES | content type is text/html",
                "200 OK | content-type: application/json | {\"a\":1} | INTERNAL | YES | expected",
                "503 Busy | content-type: text/html | <p>Busy</p> | UNAVAILABLE | MAYBE | at 127.0.0.1:",
                "502 Bad | content-type: text/html | <p>Busy</p> | UNAVAILABLE | MAYBE | 502 without an RPC error",
                "502 Bad | content-type: text/html | <p>Busy</p> | UNAVAILABLE | MAYBE | The body: <p>Busy</p>",
                "404 No | content-type: application/json | {\"message\":\"Invoker not found\",\"status\":\"404\"}"
                        + " | UNIMPLEMENTED | NO | Invoker not found",
                "404 No | tern-executed: no | {\"code\":\"not_found\",\"message\":\"no method\"}"
                        + " | UNIMPLEMENTED | NO | no method",
                "404 No | x: y | {\"code\":\"not_found\",\"message\":\"no row\"} | NOT_FOUND | MAYBE | no row",
                "200 OK | content-encoding: br | \"x\" | UNIMPLEMENTED | YES | content-encoding 'br'",
            })
    void answerThatIsNoResultIsReported(
            String status, String header, String body, StatusCode code, Executed executed, String message) {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        head(socket);

        answer(
                socket,
                "HTTP/1.1 " + status + "\r\n" + header + "\r\ncontent-length: " + body.length() + "\r\n\r\n" + body);

        RpcException failure = (RpcException)
                catchThrowableOfType(CompletionException.class, result::join).getCause();
        assertThat(failure.code()).isEqualTo(code);
        assertThat(failure.wasExecuted()).isEqualTo(executed);
        assertThat(failure).hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "HTTP/1.1 200 OK~~ | neither a length nor chunks",
                "HTTP/1.1 200 OK~content-length: 99999999~~ | rpc.limits.max-response",
                "HTTP/1.1 200 OK~content-length: -1~~ | cannot be read",
                "HTTP/1.1 200 OK~transfer-encoding: chunked~~zz~ | cannot be read",
                "Hello, stranger~ | cannot be read",
            })
    void answerWhoseEndIsNotKnownClosesTheConnection(String answer, String message) {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        head(socket);

        answer(socket, answer.replace("~", "\r\n"));

        assertThatThrownBy(result::join).hasCauseInstanceOf(RpcException.class).hasMessageContaining(message);
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void errorOfAnOldProxyIsReportedByItsStatus() {
        CompletableFuture<String> result = notes().later("x");
        RawSocket socket = server.next();
        head(socket);

        answer(socket, "HTTP/1.0 503 Busy\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<p>Busy</p>");

        RpcException failure = (RpcException)
                catchThrowableOfType(CompletionException.class, result::join).getCause();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void lostConnectionFailsItsCallAlone() {
        Notes notes = notes();
        CompletableFuture<String> lost = notes.later("lost");
        RawSocket socket = server.next();
        head(socket);
        answer(socket, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n\"abc");

        socket.close();

        assertThatThrownBy(lost::join).cause().isInstanceOfSatisfying(RpcException.class, failure -> {
            assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
            assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        });
        CompletableFuture<String> next = notes.later("next");
        RawSocket other = server.next();
        head(other);
        answerJson(other, "\"fine\"");
        assertThat(next.join()).isEqualTo("fine");
    }

    @Test
    void connectionThatTheServerWantsToCloseIsNotUsedAgain() {
        Notes notes = notes();
        CompletableFuture<String> first = notes.later("1");
        RawSocket socket = server.next();
        head(socket);
        answer(
                socket,
                "HTTP/1.1 200 OK\r\n"
                        + "connection: close\r\n"
                        + "content-type: application/json\r\n"
                        + "content-length: 3\r\n\r\n"
                        + "\"x\"");
        assertThat(first.join()).isEqualTo("x");

        CompletableFuture<String> second = notes.later("2");
        RawSocket other = server.next();
        head(other);
        answerJson(other, "\"y\"");

        assertThat(second.join()).isEqualTo("y");
        assertThat(socket.isClosedByPeer()).isTrue();
    }

    @Test
    void unreachableServerIsTriedAgainUntilItIsThere() throws Exception {
        int port;
        try (ServerSocket reserved = new ServerSocket()) {
            reserved.bind(new InetSocketAddress("127.0.0.1", 0));
            port = reserved.getLocalPort();
        }
        NettyClientTransport transport =
                new NettyClientTransport(ClientTransportSettings.named("shop"), loops, new Http1ClientProtocol(codecs));
        open.add(transport);
        ClientConnection connections = transport.connect(new Endpoint("127.0.0.1", port), 1, null);
        Await.until(
                "the first attempt has failed", () -> !connections.lastFailure().isEmpty());
        assertThat(connections.isAvailable()).isFalse();

        try (RawServer late = RawServer.start(port)) {
            late.next();
            Await.until("it is there", connections::isAvailable);
        }
    }

    @Test
    void streamsCannotBeReferredTo() {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("shop"), loops, new Http1ClientProtocol(codecs)))
                .build();
        open.add(client);
        ServiceReference<StreamService> reference = ServiceReference.to(
                        StreamService.class, new StaticEndpoints(List.of(server.endpoint())))
                .protocol(Http1ClientProtocol.NAME)
                .build();

        assertThatThrownBy(() -> client.refer(reference))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("StreamService/")
                .hasMessageContaining("protocol tri");
    }

    @Test
    void missingJacksonIsReported() {
        TripleCodecs noJson = new TripleCodecs(HessianSerializer.builder().build(), null, 0);
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("shop"), loops, new Http1ClientProtocol(noJson)))
                .build();
        open.add(client);
        ServiceReference<GreetService> reference = ServiceReference.to(
                        GreetService.class, new StaticEndpoints(List.of(server.endpoint())))
                .protocol(Http1ClientProtocol.NAME)
                .build();

        assertThatThrownBy(() -> client.refer(reference)).hasMessageContaining("tools.jackson.core:jackson-databind");
    }
}
