package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Token;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Makes the same erroneous calls over all protocols and compares the answers with a human-readable file.
 * {@code -Dmistakes.write=true} rewrites the file after a change.
 */
@Timeout(120)
class OneMistakeOneAnswerTest {

    private static final Path FILE = Path.of("src", "test", "resources", "mistakes.txt");
    private static final String NAME = "tern.rpc.netty.triple.OneMistakeOneAnswerTest$Kitchen";
    private static final String COOK = NAME + "/cook";
    private static final int MAX_BYTES = 100_000;

    public record Dish(String name) implements Serializable {}

    public static final class Burnt extends Exception {
        public Burnt(String message) {
            super(message);
        }
    }

    public interface Kitchen {
        String cook(Dish dish);

        String count(String name, int times);

        String burns() throws Burnt;

        String fails(String how);

        Integer weighs(String what);

        CompletableFuture<String> later(String how);

        String sleeps();
    }

    @WireName(NAME)
    public interface OtherKitchen {
        String bake(Dish dish);

        String cook(Dish dish, int times);

        String count(String name);

        String burns(Dish dish);
    }

    @WireName(NAME)
    public interface WrongTypes {
        String count(String name, String times);

        String burns(String how);
    }

    @WireName(NAME)
    public interface Boxes {
        String count(String name, @Nullable Integer times);

        int weighs(String what);
    }

    public interface Bar {
        String mix(String name);
    }

    enum Wire {
        DUBBO,
        TRI,
        HTTP,
        LOCAL
    }

    /** The protocols without a Tern client. The test writes the requests of these protocols by hand. */
    enum Foreign {
        CONNECT_JSON("application/json"),
        CONNECT_PROTO("application/proto"),
        GRPC("application/grpc+proto");

        private final String contentType;

        Foreign(String contentType) {
            this.contentType = contentType;
        }

        private boolean isJson() {
            return this == CONNECT_JSON;
        }
    }

    private final class Cook implements Kitchen {
        @Override
        public String cook(Dish dish) {
            return dish.name();
        }

        @Override
        public String count(String name, int times) {
            return name + times;
        }

        @Override
        public String burns() throws Burnt {
            throw new Burnt("too hot");
        }

        @Override
        public String fails(String how) {
            if (how.equals("error")) {
                throw new StackOverflowError("deep");
            }
            if (how.equals("status")) {
                throw new RpcException(StatusCode.NOT_FOUND, "there is no such dish");
            }
            throw new org.junit.platform.commons.JUnitException("secret");
        }

        @Override
        public @Nullable Integer weighs(String what) {
            return null;
        }

        @Override
        public CompletableFuture<String> later(String how) {
            return CompletableFuture.failedFuture(
                    how.equals("declared") ? new Burnt("too hot") : new IllegalStateException("not now"));
        }

        @Override
        public String sleeps() {
            running.countDown();
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return "slept";
        }
    }

    private final EventLoops loops = EventLoops.start(2);
    private final HessianSerializer hessian = HessianSerializer.builder().build();
    private final TripleCodecs codecs =
            new TripleCodecs(hessian, new JsonCodec(JsonMapper.builder().build()), 0);
    private final ExecutorService callers = Executors.newCachedThreadPool();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final CountDownLatch release = new CountDownLatch(1);
    private CountDownLatch running = new CountDownLatch(1);
    private final Map<String, Map<Wire, String>> table = new LinkedHashMap<>();
    private final Map<String, Map<Foreign, String>> foreign = new LinkedHashMap<>();

    @AfterEach
    void close() throws Exception {
        release.countDown();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        callers.shutdownNow();
        loops.close();
    }

    private final class Side {
        private final InMemoryTransport memory = new InMemoryTransport(hessian, MAX_BYTES, null);
        private final RpcServer server;
        private final Map<Wire, RpcClient> clients = new LinkedHashMap<>();
        private final int port;

        Side(Consumer<RpcServer.Builder> settings, Consumer<RpcClient.Builder> callers) {
            HttpSettings http = HttpSettings.defaults();
            DubboProtocol dubbo = new DubboProtocol(hessian, 0);
            NettyServerTransport sockets = new NettyServerTransport(
                    ServerTransportSettings.onPort(0).withMaxMessageBytes(MAX_BYTES),
                    loops,
                    List.of(dubbo, new TripleProtocol(codecs, http), new Http1Protocol(codecs, http)));
            RpcServer.Builder builder = RpcServer.builder(sockets).export(ServiceExport.of(Kitchen.class, new Cook()));
            settings.accept(builder);
            server = builder.build();
            server.serve(memory);
            server.start();
            open.add(server);
            port = server.port();
            for (Wire wire : Wire.values()) {
                RpcClient.Builder client =
                        RpcClient.builder().transport(transport(wire, dubbo)).timeout(Duration.ofSeconds(20));
                callers.accept(client);
                clients.put(wire, client.build());
                open.add(clients.get(wire));
            }
        }

        private ClientTransport transport(Wire wire, DubboProtocol dubbo) {
            ClientProtocol protocol = switch (wire) {
                case DUBBO -> dubbo;
                case TRI -> new TripleClientProtocol(codecs);
                case HTTP -> new Http1ClientProtocol(codecs);
                case LOCAL -> null;
            };
            return protocol == null
                    ? memory
                    : new NettyClientTransport(ClientTransportSettings.named("mistakes"), loops, protocol);
        }

        <T> T refer(Wire wire, Class<T> type, Consumer<ServiceReference.Builder<T>> settings) {
            ServiceReference.Builder<T> reference = ServiceReference.to(
                            type,
                            new StaticEndpoints(List.of(new Endpoint(
                                    wire == Wire.LOCAL ? "local" : "127.0.0.1", wire == Wire.LOCAL ? 0 : port))))
                    .protocol(
                            wire == Wire.LOCAL
                                    ? InMemoryTransport.PROTOCOL
                                    : wire.name().toLowerCase(Locale.ROOT));
            settings.accept(reference);
            return clients.get(wire).refer(reference.build());
        }

        /** @param path the path, without the leading slash */
        private String call(Foreign wire, String path, byte[] message, Map<String, String> headers) {
            WebRequest request = WebRequest.post("/" + path, wire.contentType).body(message);
            for (Map.Entry<String, String> header : headers.entrySet()) {
                request = request.with(header.getKey(), header.getValue());
            }
            if (wire != Foreign.GRPC) {
                try (WebClient web = WebClient.Version.HTTP1.connect(port)) {
                    return told(web.send(request.with("connect-protocol-version", "1")));
                }
            }
            byte[] framed = ByteBuffer.allocate(message.length + 5)
                    .put((byte) 0)
                    .putInt(message.length)
                    .put(message)
                    .array();
            try (WebClient web = WebClient.Version.HTTP2.connect(port)) {
                WebAnswer answer = web.send(request.body(framed).with("te", "trailers"));
                Map<String, List<String>> end = answer.trailers().isEmpty() ? answer.headers() : answer.trailers();
                StatusCode code = StatusTable.fromNumber(end.get("grpc-status").get(0));
                String text = GrpcMessage.decode(
                        end.getOrDefault("grpc-message", List.of("")).get(0));
                String executed = String.join("", end.getOrDefault("tern-executed", List.of("maybe")));
                return executed.toUpperCase(Locale.ROOT) + " " + code + ": " + text;
            }
        }

        private String told(WebAnswer answer) {
            if (!answer.header("content-type").equals("application/json")) {
                return "HTTP " + answer.status() + ": " + answer.text();
            }
            JsonNode error = JsonMapper.builder().build().readTree(answer.text());
            return answer.status() / 100 == 2
                    ? "answered " + answer.text()
                    : error.get("code").asString().toUpperCase(Locale.ROOT) + ": "
                            + error.get("message").asString();
        }

        <T> T refer(Wire wire, Class<T> type) {
            return refer(wire, type, reference -> {});
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Wire.class,
            names = {"DUBBO", "TRI"})
    void requestThatIsTooLargeLeavesTheOtherCallsOfItsConnectionAlone(Wire wire) throws Exception {
        Side side = new Side(server -> {}, client -> {});
        Kitchen kitchen = side.refer(wire, Kitchen.class, reference -> reference.check(true));
        Future<String> other = callers.submit(kitchen::sleeps);
        running.await();

        RpcException failure =
                catchThrowableOfType(RpcException.class, () -> kitchen.cook(new Dish("x".repeat(2 * MAX_BYTES))));
        release.countDown();

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(RpcException.Executed.NO);
        assertThat(other.get(20, TimeUnit.SECONDS)).isEqualTo("slept");
        assertThat(kitchen.cook(new Dish("soup"))).isEqualTo("soup");
    }

    private interface Mistake {
        Object make(Wire wire) throws Exception;
    }

    private void on(String name, Mistake mistake) {
        Map<Wire, String> answers = new LinkedHashMap<>();
        for (Wire wire : Wire.values()) {
            answers.put(wire, answer(mistake, wire));
        }
        table.put(name, answers);
    }

    /** Makes one erroneous call over each protocol without a Tern client. */
    private void onForeign(String name, Side side, String path, byte[] json, byte[] proto, String... header) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (int i = 0; i < header.length; i += 2) {
            headers.put(header[i], header[i + 1]);
        }
        Map<Foreign, String> answers = new LinkedHashMap<>();
        for (Foreign wire : Foreign.values()) {
            answers.put(wire, uniform(side.call(wire, path, wire.isJson() ? json : proto, headers)));
        }
        foreign.put(name, answers);
    }

    private static String answer(Mistake mistake, Wire wire) {
        try {
            return "answered " + mistake.make(wire);
        } catch (ExecutionException e) {
            return answer(any -> OneMistakeOneAnswerTest.<RuntimeException>sneaky(e.getCause()), wire);
        } catch (RpcException e) {
            return e.wasExecuted() + " " + uniform(e.getMessage());
        } catch (Throwable e) {
            return e.getClass().getSimpleName() + ": " + uniform(String.valueOf(e.getMessage()));
        }
    }

    @SuppressWarnings("unchecked") // the JVM does not check the cast to a type variable
    private static <E extends Throwable> Object sneaky(Throwable failure) throws E {
        throw (E) failure;
    }

    /**
     * Replaces the parts of a message that differ between runs, such as ids and ports. Timeout messages differ too,
     * because client and server race to report the timeout.
     */
    private static String uniform(String message) {
        return message.replaceAll("(127\\.0\\.0\\.1):\\d+|local:0", "<server>")
                .replaceAll("(as )[0-9a-f]+\\)", "$1<id>)")
                .replaceAll(
                        ": no answer from <server> within| at (<server>|local): still running after", ": late after")
                .replace("tern.rpc.netty.triple.OneMistakeOneAnswerTest$", "example.");
    }

    @Test
    void mistakesAreAnsweredAlikeOnAllWires() throws Exception {
        Side side = new Side(builder -> {}, client -> {});
        on("unknown service", wire -> side.refer(wire, Bar.class).mix("x"));
        on(
                "unknown group",
                wire -> side.refer(wire, Kitchen.class, to -> to.group("blue")).cook(new Dish("x")));
        on(
                "unknown version",
                wire -> side.refer(wire, Kitchen.class, to -> to.version("2.0")).cook(new Dish("x")));
        on("unknown method", wire -> side.refer(wire, OtherKitchen.class).bake(new Dish("x")));
        on("too many arguments", wire -> side.refer(wire, OtherKitchen.class).cook(new Dish("x"), 2));
        on("too few arguments", wire -> side.refer(wire, OtherKitchen.class).count("x"));
        on("an argument for none", wire -> side.refer(wire, OtherKitchen.class).burns(new Dish("x")));
        on("a text for no arguments", wire -> side.refer(wire, WrongTypes.class).burns("x"));
        on(
                "argument of another type",
                wire -> side.refer(wire, WrongTypes.class).count("x", "y"));
        on("null for a primitive", wire -> side.refer(wire, Boxes.class).count("x", null));
        on("too large", wire -> side.refer(wire, Kitchen.class).cook(new Dish("x".repeat(2 * MAX_BYTES))));
        on("declared exception", wire -> side.refer(wire, Kitchen.class).burns());
        on(
                "exception that callers do not know",
                wire -> side.refer(wire, Kitchen.class).fails("foreign"));
        on("status of the method", wire -> side.refer(wire, Kitchen.class).fails("status"));
        on(
                "exception of a later result",
                wire -> side.refer(wire, Kitchen.class).later("standard").get());
        on("null for a primitive result", wire -> side.refer(wire, Boxes.class).weighs("x"));
        on(
                "deadline that has passed before the start",
                wire -> side.refer(wire, Kitchen.class, to -> to.timeout(Duration.ofNanos(1)))
                        .cook(new Dish("x")));
        on("interrupted caller", wire -> {
            Thread.currentThread().interrupt();
            try {
                return side.refer(wire, Kitchen.class).sleeps();
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
        });
        on("error", wire -> side.refer(wire, Kitchen.class).fails("error"));
        on(
                "time-out while it runs",
                wire -> side.refer(wire, Kitchen.class, to -> to.timeout(Duration.ofMillis(300)))
                        .sleeps());

        byte[] none = {};
        byte[] object = "{}".getBytes(UTF_8);
        byte[] dish = "{\"name\":\"x\"}".getBytes(UTF_8);
        byte[] garbage = {-1, -2, -3, -4, 0, 1};
        String bar = Bar.class.getName() + "/mix";
        onForeign("unknown service", side, bar, dish, none);
        onForeign("unknown group", side, COOK, dish, none, "tri-service-group", "blue");
        onForeign("unknown method", side, NAME + "/bake", dish, none);
        onForeign("a payload that is garbage", side, COOK, garbage, garbage);
        onForeign("a request without a payload", side, COOK, none, none);
        onForeign("declared exception", side, NAME + "/burns", object, none);
        onForeign("time that is no time", side, COOK, dish, none, "connect-timeout-ms", "soon", "grpc-timeout", "soon");

        Token token = Token.of("right");
        Side guarded = new Side(builder -> builder.token(token), client -> {});
        on("no token", wire -> guarded.refer(wire, Kitchen.class).cook(new Dish("x")));
        on(
                "wrong token",
                wire -> guarded.refer(wire, Kitchen.class, to -> to.token(Token.of("wrong")))
                        .cook(new Dish("x")));

        onForeign("no token", guarded, COOK, dish, none);
        onForeign("wrong token", guarded, COOK, dish, none, "authorization", "Bearer wrong");

        Side small = new Side(builder -> builder.workers(1, 0), client -> {});
        running = new CountDownLatch(1);
        callers.execute(() -> small.refer(Wire.LOCAL, Kitchen.class).sleeps());
        running.await();
        on("busy server", wire -> small.refer(wire, Kitchen.class).cook(new Dish("x")));

        onForeign("busy server", small, COOK, dish, none);

        String text = print();
        if (Boolean.getBoolean("mistakes.write")) {
            Files.writeString(FILE, text);
        }
        assertThat(text).isEqualTo(Files.readString(FILE));
        assertThat(text).doesNotContain("Ljava/", "[]", "?.");
    }

    private String print() {
        StringBuilder text = new StringBuilder(
                "What callers learn of a mistake, by wire. OneMistakeOneAnswerTest.java says how to write this again.\n");
        table.forEach((mistake, answers) -> print(text, mistake, answers));
        text.append("\n\nThe same by wires of other libraries. Connect does not tell whether the method ran.\n");
        foreign.forEach((mistake, answers) -> print(text, mistake, answers));
        return text.toString();
    }

    private static <W extends Enum<W>> void print(StringBuilder text, String mistake, Map<W, String> answers) {
        text.append("\n== ").append(mistake).append('\n');
        Map<String, List<W>> byAnswer = new LinkedHashMap<>();
        answers.forEach((wire, answer) ->
                byAnswer.computeIfAbsent(answer, any -> new ArrayList<>()).add(wire));
        byAnswer.forEach((answer, wires) -> text.append(
                        wires.size() == answers.size()
                                ? "all"
                                : wires.stream().map(Enum::name).collect(Collectors.joining(", ")))
                .append(": ")
                .append(answer)
                .append('\n'));
    }
}
