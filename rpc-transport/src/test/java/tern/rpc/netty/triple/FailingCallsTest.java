package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.cumulative.CumulativeTimer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.peer.Books;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.triple.InjectedFailure.Kind;
import tern.rpc.netty.triple.WebClient.Version;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.json.JsonMapper;

/**
 * Tests unary calls that fail, for each protocol, step and kind of throwable. Each call must be answered without
 * leaving resources in use, and the next call on the connection must succeed.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FailingCallsTest {

    private static final String PATH = "/" + Works.class.getName() + "/";
    private static final int THREADS = 2;

    /**
     * Matches the names of the threads that run the service or send its answers. No client thread has a matching name.
     */
    private static final Pattern SERVER = Pattern.compile("(rpc-worker|later).*");

    private static final Pattern CLIENT = Pattern.compile("(?!rpc-worker|later).*");

    public interface Works {
        Part plain(Part part);

        CompletableFuture<Part> later(Part part);
    }

    /** The type of argument and result. hessian2 accesses its fields, whereas JSON uses its accessors. */
    public static final class Part implements Serializable {

        private static final long serialVersionUID = 1L;

        private String name = "";

        public Part() {
            InjectedFailure.at(Step.CONSTRUCTOR);
            InjectedFailure.at(Step.CLIENT_DECODE);
        }

        private Part(String name) {
            this.name = name;
        }

        static Part of(String name) {
            return new Part(name);
        }

        public String getName() {
            InjectedFailure.at(Step.ENCODE);
            InjectedFailure.at(Step.CLIENT_ENCODE);
            return name;
        }

        public void setName(String name) {
            InjectedFailure.at(Step.DECODE);
            this.name = name;
        }

        private Object readResolve() {
            InjectedFailure.at(Step.DECODE);
            InjectedFailure.at(Step.CLIENT_DECODE);
            return this;
        }

        private Object writeReplace() {
            InjectedFailure.at(Step.ENCODE);
            InjectedFailure.at(Step.CLIENT_ENCODE);
            return this;
        }
    }

    enum Step {
        AUTHORIZER,
        CONSTRUCTOR,
        DECODE,
        FILTER_BEFORE,
        FILTER_AFTER,
        FILTER_STAGE,
        METHOD,
        STAGE,
        STAGE_ELSEWHERE,
        STAGE_CALLBACK,
        ENCODE,
        METER,
        REGISTRATION,
        CLEARING,
        CLIENT_FILTER_BEFORE,
        CLIENT_FILTER_AFTER,
        CLIENT_FILTER_STAGE,
        CLIENT_FILTER_NULL,
        CLIENT_ENCODE,
        CLIENT_DECODE,
        CLIENT_HEADERS,
        CLIENT_METER,
        CLIENT_CALLBACK;

        boolean isOfClient() {
            return name().startsWith("CLIENT");
        }

        boolean isAsync() {
            return this == STAGE || this == STAGE_ELSEWHERE || this == STAGE_CALLBACK;
        }

        /**
         * Returns the expected result of {@link RpcException#wasExecuted} for the caller's exception if this step
         * fails; null if the call succeeds even though this step fails.
         */
        @Nullable
        Executed failsAs() {
            return switch (this) {
                case METER, REGISTRATION, CLEARING, CLIENT_METER, CLIENT_CALLBACK -> null;
                case AUTHORIZER, CONSTRUCTOR, DECODE -> Executed.NO;
                default -> Executed.YES;
            };
        }

        boolean needsFilters() {
            return this == AUTHORIZER
                    || this == FILTER_BEFORE
                    || this == FILTER_AFTER
                    || this == FILTER_STAGE
                    || name().startsWith("CLIENT_FILTER");
        }
    }

    /** The protocols over which the calls are made. */
    enum Wire {
        DUBBO,
        TRI,
        HTTP,
        JSON_HTTP1,
        JSON_HTTP2,
        CONNECT_HTTP1,
        CONNECT_HTTP2;

        Version version() {
            return this == JSON_HTTP1 || this == CONNECT_HTTP1 ? Version.HTTP1 : Version.HTTP2;
        }

        boolean isRpc() {
            return this == DUBBO || this == TRI || this == HTTP;
        }

        /**
         * Returns whether a call with this protocol includes the given step. hessian2 calls no setters, and avoids
         * constructors if possible.
         */
        boolean has(Step step) {
            return step.isOfClient() ? isRpc() : step != Step.CONSTRUCTOR || (this != DUBBO && this != TRI);
        }
    }

    private static final class Server implements Works {

        private final ExecutorService later;

        Server(ExecutorService later) {
            this.later = later;
        }

        private static Part answer(Part part) {
            return Part.of(part.name + "!");
        }

        @Override
        public Part plain(Part part) {
            InjectedFailure.at(Step.METHOD);
            return answer(part);
        }

        @Override
        public CompletableFuture<Part> later(Part part) {
            InjectedFailure.at(Step.METHOD);
            if (InjectedFailure.isAt(Step.STAGE)) {
                return CompletableFuture.failedFuture(InjectedFailure.made());
            }
            if (InjectedFailure.isAt(Step.STAGE_ELSEWHERE)) {
                return CompletableFuture.runAsync(() -> {}, later)
                        .thenCompose(done -> CompletableFuture.failedFuture(InjectedFailure.made()));
            }
            if (InjectedFailure.isAt(Step.STAGE_CALLBACK)) {
                return new CompletableFuture<>() {
                    @Override
                    public CompletableFuture<Part> whenComplete(BiConsumer<? super Part, ? super Throwable> action) {
                        InjectedFailure.at(Step.STAGE_CALLBACK);
                        return super.whenComplete(action);
                    }

                    @Override
                    public <U> CompletableFuture<U> handle(BiFunction<? super Part, Throwable, ? extends U> action) {
                        InjectedFailure.at(Step.STAGE_CALLBACK);
                        return super.handle(action);
                    }
                };
            }
            return CompletableFuture.supplyAsync(() -> answer(part), later);
        }
    }

    /** A meter registry whose timers fail when a test requests it. */
    private static final class Meters extends SimpleMeterRegistry {

        Meters() {
            super(SimpleConfig.DEFAULT, Clock.SYSTEM);
        }

        @Override
        protected Timer newTimer(Meter.Id id, DistributionStatisticConfig distribution, PauseDetector pauses) {
            InjectedFailure.at(Step.REGISTRATION);
            return new CumulativeTimer(id, clock, distribution, pauses, TimeUnit.SECONDS, false) {
                @Override
                protected void recordNonNegative(long amount, TimeUnit unit) {
                    InjectedFailure.at(Step.METER);
                    InjectedFailure.at(Step.CLIENT_METER);
                    super.recordNonNegative(amount, unit);
                }
            };
        }
    }

    /** A server and its clients, one for each protocol. */
    private final class Sides {

        final Meters meters = new Meters();
        final Books books = new Books(meters);
        final RpcServer server;
        private final Map<Wire, Works> proxies = new EnumMap<>(Wire.class);
        private final Map<Wire, WebClient> webClients = new EnumMap<>(Wire.class);

        Sides(boolean filters) {
            RpcMeters counted = new RpcMeters(meters, Slo.DEFAULT);
            HttpSettings http = HttpSettings.defaults();
            RpcServer.Builder builder = RpcServer.builder(books.watching(new NettyServerTransport(
                            ServerTransportSettings.onPort(0),
                            loops,
                            List.of(dubbo, new TripleProtocol(codecs, http), new Http1Protocol(codecs, http)))))
                    .export(ServiceExport.of(Works.class, new Server(later)))
                    .workers(THREADS, 8)
                    .maxQueueWait(Duration.ofSeconds(20))
                    .genericCalls(true)
                    .limit(Works.class.getName(), "plain", () -> new FixedLimit(2))
                    .limit(Works.class.getName(), "later", () -> new FixedLimit(2))
                    .clearThreads(() -> InjectedFailure.at(Step.CLEARING))
                    .meters(counted);
            if (filters) {
                builder.authorizer(call -> {
                            InjectedFailure.at(Step.AUTHORIZER);
                            return null;
                        })
                        .filter(filter());
            }
            server = builder.build();
            server.start();
            open.add(server);
            for (Wire wire : Wire.values()) {
                if (wire.isRpc()) {
                    proxies.put(wire, proxy(wire, counted, filters));
                } else {
                    webClients.put(wire, wire.version().connect(server.port()));
                }
            }
        }

        private Works proxy(Wire wire, RpcMeters counted, boolean filters) {
            ClientProtocol protocol = switch (wire) {
                case DUBBO -> dubbo;
                case TRI -> new TripleClientProtocol(codecs);
                default -> new Http1ClientProtocol(codecs);
            };
            RpcClient.Builder builder = RpcClient.builder()
                    .transport(new NettyClientTransport(ClientTransportSettings.named("failing"), loops, protocol))
                    .timeout(Duration.ofSeconds(10))
                    .meters(counted);
            if (filters) {
                builder.filter(clientFilter());
            }
            RpcClient client = builder.build();
            open.add(client);
            Works proxy = client.refer(ServiceReference.to(
                            Works.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                    .protocol(protocol.name())
                    .build());
            return CallOptions.none()
                    .onResponseHeaders(headers -> InjectedFailure.at(Step.CLIENT_HEADERS))
                    .on(proxy);
        }

        /** @return the name in the answer, or the exception if the call fails */
        Object call(Wire wire, boolean async) {
            return wire.isRpc() ? callProxy(wire, async) : callWeb(wire, async);
        }

        private Object callProxy(Wire wire, boolean async) {
            Works works = proxies.get(wire);
            try {
                return (async ? callAsync(works) : works.plain(Part.of("a"))).name;
            } catch (ExecutionException e) {
                return e.getCause();
            } catch (Throwable e) {
                return e;
            }
        }

        private Part callAsync(Works works) throws Exception {
            CompletableFuture<Part> future = works.later(Part.of("a"));
            future.whenComplete((part, failure) -> InjectedFailure.at(Step.CLIENT_CALLBACK));
            return future.get(25, TimeUnit.SECONDS);
        }

        private Object callWeb(Wire wire, boolean async) {
            WebRequest request = WebRequest.post(PATH + (async ? "later" : "plain"), "application/json")
                    .body("{\"name\":\"a\"}".getBytes(UTF_8));
            if (wire.name().startsWith("CONNECT")) {
                request = request.with("connect-protocol-version", "1");
            }
            WebAnswer answer = webClients.get(wire).send(request);
            return answer.status() == 200 ? answer.text() : answer;
        }

        void close() {
            webClients.values().forEach(WebClient::close);
        }
    }

    private static ServerFilter filter() {
        return (call, next) -> {
            InjectedFailure.at(Step.FILTER_BEFORE);
            CompletionStage<Response> stage = next.invoke(call);
            InjectedFailure.at(Step.FILTER_AFTER);
            return InjectedFailure.isAt(Step.FILTER_STAGE)
                    ? stage.thenCompose(response -> CompletableFuture.failedFuture(InjectedFailure.made()))
                    : stage;
        };
    }

    @SuppressWarnings("NullAway") // the filter intentionally violates the nullness contract
    private static ClientFilter clientFilter() {
        return (call, next) -> {
            InjectedFailure.at(Step.CLIENT_FILTER_BEFORE);
            CompletionStage<Response> stage = next.invoke(call);
            InjectedFailure.at(Step.CLIENT_FILTER_AFTER);
            if (InjectedFailure.isAt(Step.CLIENT_FILTER_NULL)) {
                return null;
            }
            return InjectedFailure.isAt(Step.CLIENT_FILTER_STAGE)
                    ? stage.thenCompose(response -> CompletableFuture.failedFuture(InjectedFailure.made()))
                    : stage;
        };
    }

    private final EventLoops loops = EventLoops.start(2);
    private final HessianSerializer hessian = HessianSerializer.builder().build();
    private final TripleCodecs codecs =
            new TripleCodecs(hessian, new JsonCodec(JsonMapper.builder().build()), 4);
    private final DubboProtocol dubbo = new DubboProtocol(hessian, 4);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final ExecutorService later = Executors.newSingleThreadExecutor(task -> new Thread(task, "later"));
    private final CapturedLog log = new CapturedLog("tern.rpc");
    private @Nullable Sides bare;
    private @Nullable Sides filtered;

    @BeforeAll
    void start() {
        bare = new Sides(false);
        filtered = new Sides(true);
    }

    @AfterAll
    void stop() throws Exception {
        InjectedFailure.clear();
        bare.close();
        filtered.close();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
        later.shutdown();
        log.close();
    }

    private static Stream<Arguments> rows() {
        List<Arguments> rows = new ArrayList<>();
        for (Wire wire : Wire.values()) {
            for (Step step : Step.values()) {
                if (!wire.has(step)) {
                    continue;
                }
                for (Kind kind : Kind.values()) {
                    // this combination is not tested, because the JDK's futures convert an exception from a callback to
                    // a string, and this conversion fails for an UNREADABLE exception
                    if (step != Step.CLIENT_CALLBACK || kind != Kind.UNREADABLE) {
                        rows.add(Arguments.of(wire, step, kind));
                    }
                }
            }
        }
        return rows.stream();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void failingCallIsAnsweredAndReleasesItsResources(Wire wire, Step step, Kind kind) {
        for (Sides sides : step.needsFilters() ? List.of(filtered) : List.of(bare, filtered)) {
            boolean[] ways = step.isAsync() ? new boolean[] {true} : new boolean[] {false, true};
            for (boolean async : ways) {
                check(sides, wire, step, kind, async);
            }
        }
    }

    private void check(Sides sides, Wire wire, Step step, Kind kind, boolean async) {
        InjectedFailure.inject(step, kind, step.isOfClient() ? CLIENT : SERVER);
        Object told;
        try {
            told = sides.call(wire, async);
        } finally {
            InjectedFailure.clear();
        }

        sides.books.awaitBalanced(sides.server);
        assertTold(told, step, wire);
        assertThat(sides.call(wire, async)).as("the next call").isEqualTo(good(wire));
    }

    @ParameterizedTest
    @EnumSource(Wire.class)
    void callIsServedEvenIfItsMetersCannotBeCreated(Wire wire) {
        Sides fresh = new Sides(false);
        try {
            check(fresh, wire, Step.REGISTRATION, Kind.MEMORY, false);
        } finally {
            fresh.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"JSON_HTTP2", "CONNECT_HTTP2"})
    void genericCallThatCannotBeReadHoldsNothing(Wire client) {
        byte[] unreadable = new byte[64 << 10];
        Arrays.fill(unreadable, (byte) 0xFF);
        WebRequest request = WebRequest.post(PATH + "$invoke", "application/grpc")
                .with("te", "trailers")
                .body(TestFrame.of(0, unreadable));

        WebAnswer answer = filtered.webClients.get(client).send(request);

        assertThat(answer.header("grpc-status") + answer.trailers().getOrDefault("grpc-status", List.of()))
                .isNotEmpty()
                .doesNotContain("[0]");
        filtered.books.awaitBalanced(filtered.server);
    }

    private static String good(Wire wire) {
        return wire.isRpc() ? "a!" : "{\"name\":\"a!\"}";
    }

    private static void assertTold(Object told, Step step, Wire wire) {
        Executed executed = step.failsAs();
        if (executed == null) {
            assertThat(told).isEqualTo(good(wire));
        } else if (step.isOfClient()) {
            assertThat(told).isInstanceOf(Throwable.class);
            if (told instanceof RpcException failure) {
                assertThat(failure.code()).isNotIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.UNAVAILABLE);
            }
        } else if (told instanceof RpcException failure) {
            assertThat(failure.code()).isNotIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.UNAVAILABLE);
            assertThat(failure.wasExecuted() == Executed.NO).as(told.toString()).isEqualTo(executed == Executed.NO);
        } else if (told instanceof WebAnswer answer) {
            assertThat(answer.status()).isGreaterThanOrEqualTo(400).isNotEqualTo(503);
        } else {
            assertThat(told).isInstanceOf(Throwable.class).isNotInstanceOf(Error.class);
            assertThat(executed).isEqualTo(Executed.YES);
        }
    }
}
