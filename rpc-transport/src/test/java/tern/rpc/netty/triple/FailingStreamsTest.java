package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Filter;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.Books;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.netty.triple.InjectedFailure.Kind;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Tests streams that fail in the service or in its caller, for each step and kind of throwable. Each stream must end
 * without leaving resources in use on either side, and the next call on the connection must succeed.
 */
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FailingStreamsTest {

    private static final Pattern SERVER = Pattern.compile("rpc-worker.*");
    private static final Pattern CLIENT = Pattern.compile("(?!rpc-worker).*");

    public interface Streams {
        StreamObserver<Part> both(StreamObserver<Part> answers);

        void observe(Part first, StreamObserver<Part> answers);

        Flow.Publisher<Part> many(Part first);

        CompletionStage<Part> collect(Flow.Publisher<Part> parts);
    }

    /** The type of the messages. */
    public static final class Part implements Serializable {

        private static final long serialVersionUID = 1L;

        private String name = "";

        static Part of(String name) {
            Part part = new Part();
            part.name = name;
            return part;
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
        FILTER_BEFORE,
        FILTER_AFTER,
        FILTER_STAGE,
        FILTER_NULL,
        METHOD,
        DECODE,
        ENCODE,
        ON_SUBSCRIBE,
        ON_NEXT,
        ON_COMPLETED,
        SUBSCRIBE,
        REQUEST,
        CANCEL,
        STAGE,
        ON_READY,
        ON_CANCEL,
        CLEARING,
        CLIENT_FILTER_BEFORE,
        CLIENT_FILTER_AFTER,
        CLIENT_FILTER_STAGE,
        CLIENT_FILTER_NULL,
        CLIENT_ENCODE,
        CLIENT_DECODE,
        CLIENT_HEADERS,
        CLIENT_TRAILERS,
        CLIENT_ON_SUBSCRIBE,
        CLIENT_ON_NEXT,
        CLIENT_ON_COMPLETED,
        CLIENT_ON_ERROR,
        CLIENT_REQUEST,
        CLIENT_SUBSCRIBE;

        boolean isOfClient() {
            return name().startsWith("CLIENT");
        }

        /**
         * Returns whether a failure at this step is a failure of the receiver of the answers. After its own failure,
         * the receiver need not be notified that the stream has ended.
         */
        boolean isOfReceiver() {
            return this == CLIENT_ON_SUBSCRIBE
                    || this == CLIENT_ON_NEXT
                    || this == CLIENT_ON_COMPLETED
                    || this == CLIENT_ON_ERROR;
        }
    }

    private static final class Server implements Streams {

        @Override
        public StreamObserver<Part> both(StreamObserver<Part> answers) {
            InjectedFailure.at(Step.METHOD);
            ServerContext.current().onCancel(() -> InjectedFailure.at(Step.ON_CANCEL));
            answers.onReady(() -> InjectedFailure.at(Step.ON_READY));
            return new StreamObserver<>() {
                @Override
                public void onNext(Part part) {
                    InjectedFailure.at(Step.ON_NEXT);
                    answers.onNext(part);
                }

                @Override
                public void onError(Throwable failure) {
                    answers.onError(failure);
                }

                @Override
                public void onCompleted() {
                    InjectedFailure.at(Step.ON_COMPLETED);
                    answers.onCompleted();
                }
            };
        }

        @Override
        public void observe(Part first, StreamObserver<Part> answers) {
            InjectedFailure.at(Step.METHOD);
            answers.onNext(first);
            answers.onNext(first);
            answers.onCompleted();
        }

        @Override
        public Flow.Publisher<Part> many(Part first) {
            InjectedFailure.at(Step.METHOD);
            return new Parts(first, Step.SUBSCRIBE, Step.REQUEST, Step.CANCEL);
        }

        @Override
        public CompletionStage<Part> collect(Flow.Publisher<Part> parts) {
            InjectedFailure.at(Step.METHOD);
            CompletableFuture<Part> all = new CompletableFuture<>();
            parts.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    InjectedFailure.at(Step.ON_SUBSCRIBE);
                    subscription.request(Long.MAX_VALUE);
                }

                @Override
                public void onNext(Part part) {
                    InjectedFailure.at(Step.ON_NEXT);
                }

                @Override
                public void onError(Throwable failure) {
                    all.completeExceptionally(failure);
                }

                @Override
                public void onComplete() {
                    InjectedFailure.at(Step.ON_COMPLETED);
                    if (InjectedFailure.isAt(Step.STAGE)) {
                        all.completeExceptionally(InjectedFailure.made());
                    }
                    all.complete(Part.of("all"));
                }
            });
            return all;
        }
    }

    /** A message that contains two other messages. */
    private record Parts(
            Part part,
            Step subscribing,
            Step requesting,
            @Nullable Step cancelling) implements Flow.Publisher<Part> {

        @Override
        public void subscribe(Flow.Subscriber<? super Part> subscriber) {
            InjectedFailure.at(subscribing);
            subscriber.onSubscribe(new Flow.Subscription() {
                private int left = 3;

                @Override
                public void request(long wanted) {
                    InjectedFailure.at(requesting);
                    for (long i = 0; i < wanted && left > 0; i++) {
                        left--;
                        subscriber.onNext(part);
                    }
                    if (left == 0) {
                        left = -1;
                        subscriber.onComplete();
                    }
                }

                @Override
                public void cancel() {
                    if (cancelling != null) {
                        InjectedFailure.at(cancelling);
                    }
                    left = -1;
                }
            });
        }
    }

    /** Receives answers and completes a future when the stream ends. */
    private static final class Taker implements StreamObserver<Part>, Flow.Subscriber<Part> {

        final CompletableFuture<Integer> end = new CompletableFuture<>();
        private int count;

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            InjectedFailure.at(Step.CLIENT_ON_SUBSCRIBE);
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Part part) {
            InjectedFailure.at(Step.CLIENT_ON_NEXT);
            if (InjectedFailure.isAt(Step.CLIENT_ON_ERROR)) {
                throw new IllegalStateException("to be told of by onError");
            }
            count += part.name.length();
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
            InjectedFailure.at(Step.CLIENT_ON_ERROR);
        }

        @Override
        public void onCompleted() {
            end.complete(count);
            InjectedFailure.at(Step.CLIENT_ON_COMPLETED);
        }

        @Override
        public void onComplete() {
            onCompleted();
        }
    }

    /** The methods of the service. Each constant contains the code that calls its method. */
    enum Way {
        BOTH {
            @Override
            CompletableFuture<?> call(Streams streams) {
                Taker taker = new Taker();
                StreamObserver<Part> requests = streams.both(taker);
                try {
                    requests.onNext(Part.of("a"));
                    requests.onNext(Part.of("b"));
                    requests.onCompleted();
                } catch (Throwable overOrPlanted) {
                    // the receiver of the answers is notified of the same failure, so the failure is ignored here
                }
                return taker.end;
            }
        },
        OBSERVE {
            @Override
            CompletableFuture<?> call(Streams streams) {
                Taker taker = new Taker();
                streams.observe(Part.of("a"), taker);
                return taker.end;
            }
        },
        MANY {
            @Override
            CompletableFuture<?> call(Streams streams) {
                Taker taker = new Taker();
                streams.many(Part.of("a")).subscribe(taker);
                return taker.end;
            }
        },
        COLLECT {
            @Override
            CompletableFuture<?> call(Streams streams) {
                return streams.collect(new Parts(Part.of("a"), Step.CLIENT_SUBSCRIBE, Step.CLIENT_REQUEST, null))
                        .toCompletableFuture();
            }
        };

        /** @return a future that completes when the stream ends */
        abstract CompletableFuture<?> call(Streams streams);
    }

    private final EventLoops loops = EventLoops.start(2);
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Books books = new Books(meters);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final CapturedLog log = new CapturedLog("tern.rpc");
    private @Nullable RpcServer server;
    private @Nullable Streams bare;
    private @Nullable Streams filtered;

    @BeforeAll
    void start() {
        TripleCodecs codecs = new TripleCodecs(HessianSerializer.builder().build(), null, 4);
        RpcMeters counted = new RpcMeters(meters, Slo.DEFAULT);
        server = RpcServer.builder(books.watching(new NettyServerTransport(
                        ServerTransportSettings.onPort(0),
                        loops,
                        List.of(new TripleProtocol(codecs, HttpSettings.defaults())))))
                .export(ServiceExport.of(Streams.class, new Server()))
                .workers(2, 8)
                .maxQueueWait(Duration.ofSeconds(20))
                .meters(counted)
                .clearThreads(() -> InjectedFailure.at(Step.CLEARING))
                .authorizer(call -> {
                    InjectedFailure.at(Step.AUTHORIZER);
                    return null;
                })
                .filter((ServerFilter)
                        filter(Step.FILTER_BEFORE, Step.FILTER_AFTER, Step.FILTER_STAGE, Step.FILTER_NULL)::invoke)
                .build();
        server.start();
        open.add(server);
        bare = streams(codecs, counted, false);
        filtered = streams(codecs, counted, true);
    }

    private Streams streams(TripleCodecs codecs, RpcMeters counted, boolean filters) {
        RpcClient.Builder builder = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("failing"), loops, new TripleClientProtocol(codecs)))
                .timeout(Duration.ofSeconds(10))
                .meters(counted);
        if (filters) {
            Filter filter = filter(
                    Step.CLIENT_FILTER_BEFORE,
                    Step.CLIENT_FILTER_AFTER,
                    Step.CLIENT_FILTER_STAGE,
                    Step.CLIENT_FILTER_NULL);
            builder.filter((ClientFilter) filter::invoke);
        }
        RpcClient client = builder.build();
        open.add(client);
        Streams proxy = client.refer(ServiceReference.to(
                        Streams.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                .protocol(TripleClientProtocol.NAME)
                .build());
        return CallOptions.none()
                .onResponseHeaders(headers -> InjectedFailure.at(Step.CLIENT_HEADERS))
                .onResponseTrailers(trailers -> InjectedFailure.at(Step.CLIENT_TRAILERS))
                .on(proxy);
    }

    @SuppressWarnings("NullAway") // the filter intentionally violates the nullness contract
    private static Filter filter(Step before, Step after, Step stage, Step nothing) {
        return (call, next) -> {
            InjectedFailure.at(before);
            CompletionStage<Response> passedOn = next.invoke(call);
            InjectedFailure.at(after);
            if (InjectedFailure.isAt(nothing)) {
                return null;
            }
            return InjectedFailure.isAt(stage)
                    ? passedOn.thenCompose(response -> CompletableFuture.failedFuture(InjectedFailure.made()))
                    : passedOn;
        };
    }

    @AfterAll
    void stop() throws Exception {
        InjectedFailure.clear();
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
        log.close();
    }

    private static Stream<Arguments> rows() {
        return Stream.of(Way.values())
                .flatMap(way -> Stream.of(Step.values())
                        .flatMap(step -> Stream.of(Kind.values()).map(kind -> Arguments.of(way, step, kind))));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void failingStreamEndsAndReleasesItsResources(Way way, Step step, Kind kind) throws Exception {
        Streams streams = step.isOfClient() ? filtered : bare;
        InjectedFailure.inject(step, kind, step.isOfClient() ? CLIENT : SERVER);
        try {
            CompletableFuture<?> end = begun(way, streams);
            if (!step.isOfReceiver()) {
                assertTold(end);
            }
            books.awaitBalanced(server);
        } finally {
            InjectedFailure.clear();
        }

        assertThat(way.call(streams).get(20, TimeUnit.SECONDS))
                .as("the next call")
                .isNotNull();
    }

    private static CompletableFuture<?> begun(Way way, Streams streams) {
        try {
            return way.call(streams);
        } catch (Throwable thrownAtOnce) {
            return CompletableFuture.failedFuture(thrownAtOnce);
        }
    }

    private static void assertTold(CompletableFuture<?> end) throws Exception {
        Throwable failure = end.handle((value, thrown) -> (Throwable) thrown).get(20, TimeUnit.SECONDS);
        Throwable cause = failure instanceof CompletionException && failure.getClass() == CompletionException.class
                ? failure.getCause()
                : failure;
        if (cause instanceof RpcException told) {
            assertThat(told.code()).isNotIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.UNAVAILABLE);
        }
    }
}
