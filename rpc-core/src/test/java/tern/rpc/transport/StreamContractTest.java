package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Deadline;
import tern.rpc.Filter;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** The tests that every transport with streams must pass. Each such transport has a subclass of this class. */
@Timeout(60)
public abstract class StreamContractTest extends TransportTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private static final int CHUNK_BYTES = 16 << 10;

    /** The number of chunks to send, which is many times more than can be in flight. */
    private static final int CHUNKS = 2_048;

    /**
     * The maximum number of chunks in flight between writer and reader. Chunks in flight fill flow-control windows,
     * queues and socket buffers.
     */
    private static final int MAX_UNDER_WAY = 512;

    protected final StreamServer service = new StreamServer();

    private final CountDownLatch letGo = new CountDownLatch(1);
    private @Nullable ServerTransport serverTransport;

    @Override
    protected void letGo() {
        letGo.countDown();
    }

    protected RpcServer serve(Consumer<RpcServer.Builder> settings) {
        ServerTransport transport = newServerTransport();
        serverTransport = transport;
        RpcServer.Builder builder = RpcServer.builder(transport).export(ServiceExport.of(StreamService.class, service));
        settings.accept(builder);
        RpcServer server = builder.build();
        closeLater(server);
        server.start();
        return server;
    }

    protected StreamService refer(Consumer<RpcClient.Builder> settings) {
        ClientTransport transport = newClientTransport();
        RpcClient.Builder builder = RpcClient.builder().transport(transport).timeout(LONG);
        settings.accept(builder);
        RpcClient client = builder.build();
        closeLater(client);
        return client.refer(ServiceReference.to(StreamService.class, new StaticEndpoints(List.of(endpoint())))
                .protocol(transport.protocol())
                .build());
    }

    protected StreamService proxy() {
        serve(settings -> {});
        return refer(client -> {});
    }

    private int inFlight() {
        return Objects.requireNonNull(serverTransport).inFlight();
    }

    private void awaitNothingInFlight() {
        await("no call in flight", () -> inFlight() == 0);
    }

    private static List<String> numbers(int count) {
        return IntStream.range(0, count).mapToObj(String::valueOf).toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    private static ServerContext context() {
        return Objects.requireNonNull(ServerContext.current());
    }

    /** Reads the whole stream and returns a stage that completes with the number of values. */
    private static CompletionStage<Integer> counting(Flow.Publisher<String> values) {
        CompletableFuture<Integer> counted = new CompletableFuture<>();
        values.subscribe(new Flow.Subscriber<>() {
            private int count;

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(String value) {
                count++;
            }

            @Override
            public void onError(Throwable failure) {
                counted.completeExceptionally(failure);
            }

            @Override
            public void onComplete() {
                counted.complete(count);
            }
        });
        return counted;
    }

    /** Answers each request with the request's own value. */
    private static StreamObserver<byte[]> echoing(StreamObserver<byte[]> answers) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                answers.onNext(value);
            }

            @Override
            public void onError(Throwable failure) {
                answers.onError(failure);
            }

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        };
    }

    // The following tests cover the Java types of streams and the order of messages.

    @Test
    void publisherOfAnswersArrivesInOrder() throws Exception {
        service.publish = text -> Items.numbers(Integer.parseInt(text));
        Probe<String> answers = Probe.ofAll();

        proxy().publish("1000").subscribe(answers);

        assertThat(answers.rest()).isEqualTo(numbers(1_000));
        awaitNothingInFlight();
    }

    @Test
    void observerGetsAnswersInOrder() throws Exception {
        service.observe = (text, answers) -> {
            for (String word : text.split(" ", -1)) {
                answers.onNext(bytes(word));
            }
            answers.onCompleted();
        };
        Probe<byte[]> answers = Probe.ofAll();

        proxy().observe("a stream of words", answers);

        assertThat(answers.rest()).extracting(String::new).containsExactly("a", "stream", "of", "words");
    }

    @Test
    void answersMayBeSentAfterTheMethodReturnedFromAnyThread() throws Exception {
        AtomicReference<Thread> sender = new AtomicReference<>();
        service.observe = (text, answers) -> sender.set(new Thread(() -> {
            answers.onNext(bytes(text));
            answers.onCompleted();
        }));
        Probe<byte[]> answers = Probe.ofAll();

        proxy().observe("later", answers);
        await("the method ran", () -> sender.get() != null);
        sender.get().start();

        assertThat(answers.rest()).extracting(String::new).containsExactly("later");
    }

    @Test
    void publisherOfRequestsIsReadToItsEnd() throws Exception {
        service.count = StreamContractTest::counting;
        service.countAndWait = values -> counting(values).toCompletableFuture().join();
        StreamService proxy = proxy();

        assertThat(proxy.count(Items.numbers(1_000)).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(1_000);
        assertThat(proxy.countAndWait(Items.numbers(3))).isEqualTo(3);
        awaitNothingInFlight();
    }

    @Test
    void publishersBothWaysRunSideBySide() throws Exception {
        service.transform = values -> values;
        Probe<String> answers = Probe.ofAll();

        proxy().transform(Items.numbers(1_000)).subscribe(answers);

        assertThat(answers.rest()).isEqualTo(numbers(1_000));
        awaitNothingInFlight();
    }

    @Test
    void publisherAndObserverGoTogether() throws Exception {
        service.transformObserved = (values, answers) -> values.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.request(Long.MAX_VALUE);
            }

            @Override
            public void onNext(String value) {
                answers.onNext(value + "!");
            }

            @Override
            public void onError(Throwable failure) {
                answers.onError(failure);
            }

            @Override
            public void onComplete() {
                answers.onCompleted();
            }
        });
        Probe<String> answers = Probe.ofAll();

        proxy().transformObserved(Items.of("a", "b"), answers);

        assertThat(answers.rest()).containsExactly("a!", "b!");
    }

    @Test
    void observersBothWaysPlayPingPong() throws Exception {
        service.exchange = StreamContractTest::echoing;
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);

        for (int i = 0; i < 100; i++) {
            requests.onNext(bytes("ball " + i));
            assertThat(answers.next()).isEqualTo(bytes("ball " + i));
        }
        requests.onCompleted();

        assertThat(answers.rest()).isEmpty();
        awaitNothingInFlight();
    }

    @Test
    void emptyStreamsEndWell() throws Exception {
        service.publish = text -> Items.of();
        service.observe = (text, answers) -> answers.onCompleted();
        service.count = StreamContractTest::counting;
        service.transform = values -> values;
        service.exchange = StreamContractTest::echoing;
        StreamService proxy = proxy();
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();
        Probe<String> transformed = Probe.ofAll();
        Probe<byte[]> exchanged = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.observe("", observed);
        proxy.transform(Items.of()).subscribe(transformed);
        proxy.exchange(exchanged).onCompleted();

        assertThat(published.rest()).isEmpty();
        assertThat(observed.rest()).isEmpty();
        assertThat(transformed.rest()).isEmpty();
        assertThat(exchanged.rest()).isEmpty();
        assertThat(proxy.count(Items.of()).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isZero();
    }

    @Test
    void eachSubscriptionIsACallAndNoneWithoutOne() throws Exception {
        service.publish = text -> Items.numbers(2);
        Flow.Publisher<String> publisher = proxy().publish("");
        Probe<String> first = Probe.ofAll();
        Probe<String> second = Probe.ofAll();

        assertThat(service.contexts).isEmpty();
        publisher.subscribe(first);
        publisher.subscribe(second);

        assertThat(first.rest()).hasSize(2);
        assertThat(second.rest()).hasSize(2);
        assertThat(service.contexts).hasSize(2);
    }

    @Test
    void subscriberGetsTheRequestedNumberOfItems() throws Exception {
        service.publish = text -> Items.numbers(100);
        Probe<String> answers = Probe.onDemand();
        proxy().publish("").subscribe(answers);

        answers.request(2);
        assertThat(answers.next()).isEqualTo("0");
        assertThat(answers.next()).isEqualTo("1");
        answers.request(1);
        assertThat(answers.next()).isEqualTo("2");
        assertThat(answers.count()).isEqualTo(3);

        answers.request(Long.MAX_VALUE);
        assertThat(answers.rest()).hasSize(97);
    }

    @Test
    void publisherOfRequestsHasOneSubscriberOnTheServer() throws Exception {
        Probe<String> second = Probe.ofAll();
        service.count = values -> {
            CompletionStage<Integer> counted = counting(values);
            values.subscribe(second);
            return counted;
        };

        assertThat(proxy().count(Items.numbers(3)).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(3);

        assertThat(second.failure()).isInstanceOf(IllegalStateException.class).hasMessageContaining("one subscriber");
    }

    @Test
    void messageOfAMegabyteArrivesInEitherDirection() throws Exception {
        service.exchange = StreamContractTest::echoing;
        byte[] large = new byte[1 << 20];
        large[large.length - 1] = 7;
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);

        requests.onNext(large);
        requests.onNext(large);
        requests.onCompleted();

        assertThat(answers.rest()).containsExactly(large, large);
    }

    // The following tests cover failures.

    @Test
    void failureOfTheMethodBeforeTheFirstAnswerEndsTheStream() throws Exception {
        service.publish = text -> {
            throw new RpcException(StatusCode.NOT_FOUND, "no " + text);
        };
        service.observe = (text, answers) -> {
            throw new IllegalArgumentException("not " + text);
        };
        StreamService proxy = proxy();
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();

        proxy.publish("stream").subscribe(published);
        proxy.observe("this", observed);

        RpcException failure = (RpcException) published.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.NOT_FOUND);
        assertThat(failure).hasMessageContaining("no stream");
        assertThat(failure.wasExecuted()).isNotEqualTo(Executed.NO);
        assertThat(observed.failure()).hasMessageContaining("not this");
        awaitNothingInFlight();
    }

    @Test
    void failureAfterSomeAnswersComesBehindThem() throws Exception {
        service.publish = text -> Items.failing(new RpcException(StatusCode.DATA_LOSS, "the rest is lost"), numbers(3));
        service.observe = (text, answers) -> {
            answers.onNext(bytes("one"));
            answers.onError(new RpcException(StatusCode.ABORTED, "enough"));
        };
        StreamService proxy = proxy();
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.observe("", observed);

        assertThat(List.of(published.next(), published.next(), published.next()))
                .isEqualTo(numbers(3));
        assertThat(((RpcException) published.failure()).code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(observed.next()).isEqualTo(bytes("one"));
        assertThat(((RpcException) observed.failure()).code()).isEqualTo(StatusCode.ABORTED);
    }

    @Test
    void failedRequestsCancelTheCallAndNotifyTheMethod() throws Exception {
        Probe<String> requests = Probe.ofAll();
        service.count = values -> {
            values.subscribe(requests);
            return new CompletableFuture<>();
        };
        SubmissionPublisher<String> paper = new SubmissionPublisher<>();
        CompletableFuture<Integer> answer = proxy().count(paper).toCompletableFuture();
        paper.submit("first sheet");
        assertThat(requests.next()).isEqualTo("first sheet");

        paper.closeExceptionally(new IllegalStateException("no more paper"));

        ExecutionException failure =
                catchThrowableOfType(ExecutionException.class, () -> answer.get(20, TimeUnit.SECONDS));

        assertThat(((RpcException) failure.getCause()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(failure).hasMessageContaining("no more paper");
        assertThat(((RpcException) requests.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(take(service.contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
    }

    @Test
    void failedObserverOfRequestsCancelsTheCallAndNotifiesTheMethod() throws Exception {
        Probe<byte[]> received = Probe.ofAll();
        service.exchange = answers -> received;
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);
        requests.onNext(bytes("first"));
        assertThat(received.next()).isEqualTo(bytes("first"));

        requests.onError(new IllegalStateException("changed my mind"));

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(((RpcException) received.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(take(service.contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
    }

    @Test
    void failureOfTheCodeThatTakesRequestsFailsTheCall() throws Exception {
        service.exchange = answers -> Probe.ofAll(value -> {
            throw new RpcException(
                    StatusCode.INVALID_ARGUMENT,
                    "cannot take " + new String(value, java.nio.charset.StandardCharsets.UTF_8));
        });
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);

        requests.onNext(bytes("that"));

        RpcException failure = (RpcException) answers.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
        assertThat(failure).hasMessageContaining("cannot take that");
        awaitNothingInFlight();
    }

    @Test
    void failureOfTheCodeThatTakesAnswersCancelsTheCall() throws Exception {
        Items<String> items = Items.endless("again");
        service.publish = text -> items;
        service.exchange = StreamContractTest::echoing;
        StreamService proxy = proxy();
        Probe<String> failing = Probe.ofAll(value -> {
            throw new IllegalStateException("on purpose");
        });
        Probe<byte[]> observing = Probe.ofAll(value -> {
            throw new IllegalStateException("on purpose");
        });

        proxy.publish("").subscribe(failing);
        StreamObserver<byte[]> requests = proxy.exchange(observing);
        requests.onNext(bytes("first"));

        await("the server's publisher is cancelled", items.cancelled::get);
        assertThat(observing.failure()).hasMessage("on purpose");
        await("requests are over", () -> catchThrowable(() -> requests.onNext(bytes("x"))) instanceof RpcException);
        assertThat(failing.ends()).isZero();
        awaitNothingInFlight();
    }

    @Test
    void nullInPlaceOfAStreamIsAFailureThatNamesTheMethod() throws Exception {
        service.publish = text -> null;
        service.exchange = answers -> null;
        StreamService proxy = proxy();
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> exchanged = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.exchange(exchanged);

        assertThat(published.failure()).hasMessageContaining("StreamService/publish returned null");
        assertThat(exchanged.failure()).hasMessageContaining("StreamService/exchange returned null");
        assertThatThrownBy(() -> proxy.count(null)).isInstanceOf(NullPointerException.class);
        awaitNothingInFlight();
    }

    // The following tests cover streams that the client or the server ends.

    @Test
    void cancelOfTheAnswersReachesTheMethod() throws Exception {
        Items<String> items = Items.endless("again");
        service.publish = text -> items;
        Probe<String> answers = Probe.onDemand();
        proxy().publish("").subscribe(answers);
        answers.request(3);
        assertThat(List.of(answers.next(), answers.next(), answers.next())).hasSize(3);

        answers.cancel();

        await("the method's publisher is cancelled", items.cancelled::get);
        assertThat(take(service.contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
        assertThat(answers.ends()).isZero();
    }

    @Test
    void cancelEndsRequestsAndAnswersOfTheMethod() throws Exception {
        Probe<String> received = Probe.ofAll();
        AtomicReference<StreamObserver<String>> sender = new AtomicReference<>();
        service.transformObserved = (values, answers) -> {
            sender.set(answers);
            values.subscribe(received);
        };
        service.transform = values -> {
            values.subscribe(received);
            return Items.endless("again");
        };
        Items<String> requests = Items.endless("more");
        Probe<String> answers = Probe.onDemand();
        proxy().transform(requests).subscribe(answers);
        answers.request(1);
        answers.next();

        answers.cancel();

        await("the requests end", () -> received.ends() == 1);
        await("the client's publisher is cancelled", requests.cancelled::get);
        awaitNothingInFlight();
    }

    @Test
    void sendingAfterACancelFails() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service.exchange = answers -> {
            sender.complete(answers);
            return Probe.ofAll();
        };
        StreamObserver<byte[]> requests = proxy().exchange(Probe.ofAll());
        StreamObserver<byte[]> answers = sender.get(20, TimeUnit.SECONDS);
        answers.onNext(bytes("while it lasts"));

        requests.onError(new IllegalStateException("gone"));
        ServerContext context = take(service.contexts);
        await("the call is cancelled", context::isCancelled);

        await("sending fails", () -> catchThrowable(() -> answers.onNext(bytes("x"))) instanceof RpcException);
        assertThat(answers.isReady()).isFalse();
        answers.onCompleted();
        answers.onError(new IllegalStateException("too late"));
        awaitNothingInFlight();
    }

    @Test
    void cancelledFutureOfAStreamOfRequestsEndsTheCall() throws Exception {
        Probe<String> received = Probe.ofAll();
        service.count = values -> {
            values.subscribe(received);
            return new CompletableFuture<>();
        };
        Items<String> requests = Items.endless("more");
        CompletableFuture<Integer> answer = proxy().count(requests).toCompletableFuture();
        received.next();

        assertThat(answer.cancel(true)).isTrue();

        await("the requests end", () -> received.ends() == 1);
        await("the client's publisher is cancelled", requests.cancelled::get);
        assertThat(take(service.contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
    }

    @Test
    void serverThatAnswersEarlyStopsTheRequests() throws Exception {
        service.count = values -> {
            values.subscribe(Probe.ofAll());
            return CompletableFuture.completedFuture(-1);
        };
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service.exchange = answers -> {
            sender.complete(answers);
            return Probe.ofAll();
        };
        StreamService proxy = proxy();
        Items<String> published = Items.endless("more");
        Probe<byte[]> answers = Probe.ofAll();

        CompletionStage<Integer> answer = proxy.count(published);
        StreamObserver<byte[]> requests = proxy.exchange(answers);
        requests.onNext(bytes("first"));
        sender.get(20, TimeUnit.SECONDS).onCompleted();

        assertThat(answer.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo(-1);
        await("the publisher of requests is cancelled", published.cancelled::get);
        assertThat(answers.rest()).isEmpty();
        RpcException failure = catchThrowableOfType(RpcException.class, () -> requests.onNext(bytes("second")));
        assertThat(failure).hasMessageContaining("the call is over");
        awaitNothingInFlight();
    }

    @Test
    void requestsThatTheMethodNeedsNoMoreMayBeCancelled() throws Exception {
        service.count = values -> {
            CompletableFuture<Integer> first = new CompletableFuture<>();
            values.subscribe(new Flow.Subscriber<>() {
                private Flow.@Nullable Subscription subscription;

                @Override
                public void onSubscribe(Flow.Subscription given) {
                    subscription = given;
                    given.request(1);
                }

                @Override
                public void onNext(String value) {
                    Objects.requireNonNull(subscription).cancel();
                    first.complete(Integer.parseInt(value));
                }

                @Override
                public void onError(Throwable failure) {
                    first.completeExceptionally(failure);
                }

                @Override
                public void onComplete() {
                    first.completeExceptionally(new IllegalStateException("told an end after the cancel"));
                }
            });
            return first;
        };
        Items<String> requests = Items.endless("42");

        CompletionStage<Integer> answer = proxy().count(requests);

        assertThat(answer.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo(42);
        await("the client's publisher is cancelled", requests.cancelled::get);
        awaitNothingInFlight();
    }

    @Test
    void closedServerEndsStreamsOnBothSides() throws Exception {
        Probe<byte[]> received = Probe.ofAll();
        service.exchange = answers -> received;
        RpcServer server = serve(settings -> {});
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = refer(client -> {}).exchange(answers);
        requests.onNext(bytes("first"));
        received.next();

        server.close();

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(((RpcException) received.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(take(service.contexts).isCancelled()).isTrue();
    }

    @Test
    void cancelsThatRaceWithTheBeginningLeaveNothingBehind() throws Exception {
        service.publish = text -> Items.endless("again");
        Flow.Publisher<String> publisher = proxy().publish("");
        List<Future<Integer>> callers = new ArrayList<>();
        CountDownLatch start = new CountDownLatch(1);
        for (int caller = 0; caller < 8; caller++) {
            callers.add(inBackground(() -> {
                start.await();
                int ends = 0;
                for (int i = 0; i < 50; i++) {
                    Probe<String> answers = Probe.ofAll();
                    Future<?> subscribing = inBackground(() -> {
                        publisher.subscribe(answers);
                        return null;
                    });
                    answers.cancel();
                    subscribing.get(20, TimeUnit.SECONDS);
                    ends += answers.ends();
                }
                return ends;
            }));
        }
        start.countDown();

        for (Future<Integer> caller : callers) {
            assertThat(caller.get(60, TimeUnit.SECONDS)).isZero();
        }
        awaitNothingInFlight();
    }

    // The following tests cover deadlines.

    @Test
    void deadlineEndsAStreamOnBothSides() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service.observe = (text, answers) -> {
            answers.onNext(bytes("in time"));
            sender.complete(answers);
        };
        StreamService proxy = proxy();
        Probe<byte[]> answers;
        // The loop repeats the call, because on a busy machine the call's deadline may pass before the first answer
        // arrives.
        do {
            Probe<byte[]> told = Probe.ofAll();
            proxy.observeBriefly("", told);
            await("the stream ends", () -> told.ends() == 1);
            answers = told;
        } while (answers.count() == 0);

        assertThat(answers.next()).isEqualTo(bytes("in time"));
        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        ServerContext context = take(service.contexts);
        await("the method learns of it", context::isCancelled);
        StreamObserver<byte[]> late = sender.get(20, TimeUnit.SECONDS);
        await("sending fails", () -> catchThrowable(() -> late.onNext(bytes("x"))) instanceof RpcException);
        awaitNothingInFlight();
    }

    @Test
    void deadlineEndsAMethodThatWaitsToSend() throws Exception {
        CompletableFuture<RpcException> failure = new CompletableFuture<>();
        byte[] chunk = new byte[CHUNK_BYTES];
        service.observe = (text, answers) -> failure.complete(catchThrowableOfType(RpcException.class, () -> {
            while (true) {
                answers.onNext(chunk);
            }
        }));
        StreamService proxy = CallOptions.none().timeout(Duration.ofMillis(300)).on(proxy());
        List<Probe<byte[]>> observers = new ArrayList<>();
        // The loop repeats the call, because on a busy machine the call's deadline may pass before the method begins.
        do {
            Probe<byte[]> stuck = Probe.ofAll(value -> awaitLetGo());
            observers.add(stuck);
            proxy.observe("", stuck);
            await("begun, or over", () -> !service.contexts.isEmpty() || stuck.ends() == 1);
        } while (service.contexts.isEmpty());

        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.CANCELLED);
        letGo.countDown();
        await("the observers are told", () -> observers.stream().allMatch(stuck -> stuck.ends() == 1));
        awaitNothingInFlight();
    }

    private void awaitLetGo() {
        try {
            assertThat(letGo.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void deadlineFailsTheRequestsAtTheServer() throws Exception {
        BlockingQueue<Probe<byte[]>> begun = new LinkedBlockingQueue<>();
        service.exchange = answers -> {
            Probe<byte[]> requests = Probe.ofAll();
            begun.add(requests);
            return requests;
        };
        StreamService proxy = CallOptions.none().timeout(Duration.ofMillis(200)).on(proxy());

        Probe<byte[]> received;
        // The loop repeats the call, because on a busy machine the call's deadline may pass before the method begins.
        do {
            Probe<byte[]> answers = Probe.ofAll();
            proxy.exchange(answers);
            answers.failure();
            received = begun.poll();
        } while (received == null);

        assertThat(((RpcException) received.failure()).code()).isIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.CANCELLED);
    }

    @Test
    void streamHasNoTimeoutUnlessOneIsSetForIt() throws Exception {
        service.publish = text -> Items.of();
        service.count = StreamContractTest::counting;
        StreamService proxy = proxy();
        Probe<String> answers = Probe.ofAll();

        proxy.publish("").subscribe(answers);
        answers.rest();
        assertThat(take(service.contexts).deadline().isLimited()).isFalse();

        proxy.count(Items.of()).toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(take(service.contexts).deadline().isLimited()).isFalse();

        CallOptions.none().timeout(LONG).on(proxy).publish("").subscribe(Probe.ofAll());
        assertThat(take(service.contexts).deadline().isLimited()).isTrue();
    }

    @Test
    void deadlineOfTheCallBeingServedLimitsAStream() throws Exception {
        StreamService proxy = proxy();
        service.publish = text -> Items.of();
        service.unary = text -> {
            proxy.publish("").subscribe(Probe.ofAll());
            return text;
        };

        proxy.unary("x");

        Deadline outer = take(service.contexts).deadline();
        Deadline inner = take(service.contexts).deadline();
        assertThat(outer.isLimited()).isTrue();
        assertThat(inner.isLimited()).isTrue();
    }

    // The following tests cover backpressure. They compare the numbers of messages written and read.

    @Test
    void slowReaderStopsAServersPublisher() throws Exception {
        String chunk = "x".repeat(CHUNK_BYTES);
        Items<String> items = Items.endless(chunk);
        service.publish = text -> items;
        Probe<String> answers = Probe.onDemand();
        proxy().publish("").subscribe(answers);

        for (int read = 1; read <= 1_000; read++) {
            answers.request(1);
            assertThat(answers.next()).isEqualTo(chunk);
            assertThat(items.given.get()).isLessThanOrEqualTo(read + MAX_UNDER_WAY);
        }

        answers.cancel();
        awaitNothingInFlight();
    }

    @Test
    void slowReaderStopsAClientsPublisher() throws Exception {
        Probe<String> requests = Probe.onDemand();
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        service.count = values -> {
            values.subscribe(requests);
            return answer;
        };
        String chunk = "x".repeat(CHUNK_BYTES);
        Items<String> items = Items.endless(chunk);
        CompletionStage<Integer> counted = proxy().count(items);

        for (int read = 1; read <= 1_000; read++) {
            requests.request(1);
            assertThat(requests.next()).isEqualTo(chunk);
            assertThat(items.given.get()).isLessThanOrEqualTo(read + MAX_UNDER_WAY);
        }

        answer.complete(100);
        assertThat(counted.toCompletableFuture().get(20, TimeUnit.SECONDS)).isEqualTo(100);
        awaitNothingInFlight();
    }

    @Test
    void serverThatChecksReadinessPausesAndContinues() throws Exception {
        AtomicInteger written = new AtomicInteger();
        BlockingQueue<Integer> paused = new LinkedBlockingQueue<>();
        service.exchange = answers -> {
            answers.onReady(() -> writeWhileReady(answers, written, paused));
            return Probe.ofAll();
        };
        CountDownLatch read = new CountDownLatch(1);
        AtomicInteger count = new AtomicInteger();
        Probe<byte[]> answers = Probe.ofAll(value -> {
            awaitUninterrupted(read);
            count.incrementAndGet();
        });
        proxy().exchange(answers);

        assertThat(take(paused)).isLessThanOrEqualTo(MAX_UNDER_WAY);
        read.countDown();

        assertThat(answers.rest()).hasSize(CHUNKS);
        assertThat(written).hasValue(CHUNKS);
        awaitNothingInFlight();
    }

    @Test
    void clientThatChecksReadinessPausesAndContinues() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        Probe<byte[]> received = Probe.ofAll(value -> awaitUninterrupted(read));
        service.exchange = answers -> received;
        AtomicInteger written = new AtomicInteger();
        BlockingQueue<Integer> paused = new LinkedBlockingQueue<>();
        StreamObserver<byte[]> requests = proxy().exchange(Probe.ofAll());
        requests.onReady(() -> writeWhileReady(requests, written, paused));

        assertThat(take(paused)).isLessThanOrEqualTo(MAX_UNDER_WAY);
        read.countDown();

        assertThat(received.rest()).hasSize(CHUNKS);
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void writeWhileReady(
            StreamObserver<byte[]> sender, AtomicInteger written, BlockingQueue<Integer> paused) {
        byte[] chunk = new byte[CHUNK_BYTES];
        while (sender.isReady() && written.get() < CHUNKS) {
            sender.onNext(chunk);
            if (written.incrementAndGet() == CHUNKS) {
                sender.onCompleted();
            }
        }
        paused.add(written.get());
    }

    @Test
    void serverThatIgnoresReadinessWaits() throws Exception {
        AtomicInteger written = new AtomicInteger();
        AtomicReference<Thread> writer = new AtomicReference<>();
        service.observe = (text, answers) -> {
            writer.set(Thread.currentThread());
            writeAll(answers, written);
        };
        CountDownLatch read = new CountDownLatch(1);
        Probe<byte[]> answers = Probe.ofAll(value -> awaitUninterrupted(read));
        proxy().observe("", answers);

        await("the writer waits", () -> isWaiting(writer.get()) && written.get() > 0);
        assertThat(written.get()).isLessThanOrEqualTo(MAX_UNDER_WAY);
        read.countDown();

        assertThat(answers.rest()).hasSize(CHUNKS);
        awaitNothingInFlight();
    }

    @Test
    void clientThatIgnoresReadinessWaits() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        Probe<byte[]> received = Probe.ofAll(value -> awaitUninterrupted(read));
        service.exchange = answers -> received;
        StreamObserver<byte[]> requests = proxy().exchange(Probe.ofAll());
        AtomicInteger written = new AtomicInteger();
        Thread writer = new Thread(() -> writeAll(requests, written));
        writer.start();

        await("the writer waits", () -> isWaiting(writer) && written.get() > 0);
        assertThat(written.get()).isLessThanOrEqualTo(MAX_UNDER_WAY);
        read.countDown();

        assertThat(received.rest()).hasSize(CHUNKS);
        writer.join();
    }

    private static void writeAll(StreamObserver<byte[]> sender, AtomicInteger written) {
        byte[] chunk = new byte[CHUNK_BYTES];
        for (int i = 0; i < CHUNKS; i++) {
            sender.onNext(chunk);
            written.incrementAndGet();
        }
        sender.onCompleted();
    }

    /** Returns whether the thread is blocked in {@code onNext}. The threads of these tests block nowhere else. */
    private static boolean isWaiting(@Nullable Thread thread) {
        return thread != null
                && (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    void callThatEndsLetsAWaitingWriterGo() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service.exchange = answers -> {
            sender.complete(answers);
            return Probe.ofAll(value -> awaitLetGo());
        };
        StreamObserver<byte[]> requests = proxy().exchange(Probe.ofAll());
        AtomicInteger written = new AtomicInteger();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread writer = new Thread(() -> failure.complete(catchThrowable(() -> writeAll(requests, written))));
        writer.start();
        await("the writer waits", () -> isWaiting(writer) && written.get() > 0);

        sender.get(20, TimeUnit.SECONDS).onError(new RpcException(StatusCode.ABORTED, "enough"));

        assertThat(failure.get(20, TimeUnit.SECONDS)).isInstanceOf(RpcException.class);
        letGo.countDown();
        awaitNothingInFlight();
    }

    /**
     * The call must end even if the code that receives its requests is busy. Requests are delivered on the thread that
     * ran the method.
     */
    @Test
    void callEndsThoughTheCodeThatTakesItsRequestsIsBusy() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        CountDownLatch busy = new CountDownLatch(1);
        service.exchange = answers -> {
            sender.complete(answers);
            awaitUninterrupted(busy);
            return Probe.ofAll(value -> awaitLetGo());
        };
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);
        requests.onNext(bytes("x"));
        StreamObserver<byte[]> answering = sender.get(20, TimeUnit.SECONDS);
        busy.countDown();

        answering.onError(new RpcException(StatusCode.ABORTED, "enough"));

        assertThat(answers.failure()).hasMessageContaining("enough");
        letGo.countDown();
        awaitNothingInFlight();
    }

    // The following tests cover headers and trailers.

    @Test
    void headersArriveBeforeTheFirstMessage() throws Exception {
        service.exchange = answers -> {
            context()
                    .responseHeaders()
                    .add("greeting", "hello")
                    .add("greeting", "there")
                    .put("seal", new byte[] {1, 2});
            context().sendHeaders();
            return echoing(answers);
        };
        CompletableFuture<Metadata> headers = new CompletableFuture<>();
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = CallOptions.none()
                .onResponseHeaders(headers::complete)
                .on(proxy())
                .exchange(answers);

        Metadata early = headers.get(20, TimeUnit.SECONDS);
        assertThat(answers.count()).isZero();
        requests.onNext(bytes("now"));
        requests.onCompleted();

        assertThat(early.getAll("greeting")).containsExactly("hello", "there");
        assertThat(early.getBytes("seal")).containsExactly(1, 2);
        assertThat(answers.rest()).hasSize(1);
    }

    @Test
    void headersMessagesAndTrailersAreDeliveredInThisOrderOnce() throws Exception {
        service.publish = text -> {
            context().responseHeaders().put("head", "h");
            context().responseMetadata().add("tail", "t1").add("tail", "t2").put("blob", new byte[] {3, -1});
            return Items.numbers(2);
        };
        List<String> order = new CopyOnWriteArrayList<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();
        StreamService proxy = CallOptions.none()
                .onResponseHeaders(headers -> order.add("headers " + headers.get("head") + headers.get("tail")))
                .onResponseTrailers(seen -> {
                    trailers.set(seen);
                    order.add("trailers");
                })
                .on(proxy());
        Probe<String> answers = Probe.ofAll(order::add);

        proxy.publish("").subscribe(answers);
        answers.rest();

        assertThat(order).containsExactly("headers hnull", "0", "1", "trailers");
        assertThat(trailers.get().getAll("tail")).containsExactly("t1", "t2");
        assertThat(trailers.get().getBytes("blob")).containsExactly(3, -1);
        assertThat(trailers.get().get("head")).isNull();
    }

    @Test
    void headersAndTrailersOfASingleAnswerAreKeptApart() throws Exception {
        service.count = values -> {
            context().responseHeaders().put("head", "h");
            context().responseMetadata().put("tail", "t");
            return counting(values);
        };
        service.unary = text -> {
            context().responseHeaders().put("head", "h");
            context().responseMetadata().put("tail", "t");
            return text;
        };
        List<String> seen = new CopyOnWriteArrayList<>();
        StreamService proxy = CallOptions.none()
                .onResponseHeaders(headers -> seen.add("headers " + headers.get("head") + headers.get("tail")))
                .onResponseTrailers(trailers -> seen.add("trailers " + trailers.get("head") + trailers.get("tail")))
                .on(proxy());

        proxy.count(Items.numbers(2)).toCompletableFuture().get(20, TimeUnit.SECONDS);
        proxy.unary("x");

        assertThat(seen).containsExactly("headers hnull", "trailers nullt", "headers hnull", "trailers nullt");
    }

    @Test
    void trailersComeWithAFailureToo() throws Exception {
        service.publish = text -> {
            context().responseMetadata().put("reason", "r").put("blob", new byte[] {9});
            return Items.failing(new RpcException(StatusCode.ABORTED, "stop"), numbers(text.isEmpty() ? 0 : 1));
        };
        service.unary = text -> {
            context().responseMetadata().put("reason", "r");
            throw new RpcException(StatusCode.ABORTED, "stop");
        };
        List<Metadata> seen = new CopyOnWriteArrayList<>();
        StreamService proxy = CallOptions.none().onResponseTrailers(seen::add).on(proxy());
        Probe<String> atOnce = Probe.ofAll();
        Probe<String> later = Probe.ofAll();

        proxy.publish("").subscribe(atOnce);
        RpcException first = (RpcException) atOnce.failure();
        proxy.publish("one").subscribe(later);
        later.next();
        RpcException second = (RpcException) later.failure();
        RpcException third = catchThrowableOfType(RpcException.class, () -> proxy.unary("x"));

        assertThat(List.of(first, second, third))
                .allSatisfy(
                        failure -> assertThat(failure.metadata().get("reason")).isEqualTo("r"));
        assertThat(first.metadata().getBytes("blob")).containsExactly(9);
        assertThat(seen)
                .hasSize(3)
                .allSatisfy(trailers -> assertThat(trailers.get("reason")).isEqualTo("r"));
    }

    @Test
    void requestHeadersReachTheMethod() throws Exception {
        service.publish = text -> Items.of(
                String.join(" ", context().metadata().getAll("tenant")),
                String.valueOf(Objects.requireNonNull(context().metadata().getBytes("key")).length));
        Probe<String> answers = Probe.ofAll();

        CallOptions.none()
                .header("Tenant", "blue")
                .header("Tenant", "green")
                .header("key", new byte[] {1, 2, 3})
                .on(proxy())
                .publish("")
                .subscribe(answers);

        assertThat(answers.rest()).containsExactly("blue green", "3");
    }

    // The following tests cover filters, contexts and meters.

    @Test
    void filtersSeeAStreamAsOneCallThatEndsWithIt() throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        service.exchange = StreamContractTest::echoing;
        serve(settings -> settings.filter(noting(order, "server")::invoke));
        StreamService proxy = refer(client -> client.filter(noting(order, "client")::invoke));
        Probe<byte[]> answers = Probe.ofAll(value -> order.add("answer"));
        StreamObserver<byte[]> requests = proxy.exchange(answers);

        requests.onNext(bytes("x"));
        answers.next();
        assertThat(order).containsExactly("client before 1", "server before 1", "answer");
        requests.onCompleted();
        answers.rest();

        await("both have seen the end", () -> order.size() == 5);
        assertThat(order.subList(3, 5)).containsExactlyInAnyOrder("server after null", "client after null");
    }

    private static Filter noting(List<String> order, String name) {
        return (call, next) -> {
            order.add(name + " before " + call.arguments().length);
            return next.invoke(call)
                    .whenComplete((response, failure) ->
                            order.add(name + " after " + (failure == null ? response.value() : failure.getMessage())));
        };
    }

    @Test
    void filtersSeeAndMayReplaceTheOneAnswer() throws Exception {
        service.count = StreamContractTest::counting;
        serve(settings -> settings.filter((call, next) ->
                next.invoke(call).thenApply(response -> response.withValue((Integer) response.value() + 10))));
        StreamService proxy = refer(client -> client.filter((call, next) ->
                next.invoke(call).thenApply(response -> response.withValue((Integer) response.value() + 100))));

        assertThat(proxy.count(Items.numbers(3)).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(113);
    }

    @Test
    void filterMayAnswerOrRefuseInPlaceOfTheMethod() throws Exception {
        serve(settings -> settings.filter((call, next) -> switch (call.method().name()) {
            case "count" -> CompletableFuture.completedFuture(Response.of(7));
            case "publish" -> CompletableFuture.completedFuture(Response.of(null));
            default -> CompletableFuture.failedFuture(new RpcException(StatusCode.PERMISSION_DENIED, "not you"));
        }));
        StreamService proxy = refer(client -> {});
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.observe("", observed);

        assertThat(proxy.count(Items.endless("x")).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(7);
        assertThat(published.rest()).isEmpty();
        assertThat(((RpcException) observed.failure()).code()).isEqualTo(StatusCode.PERMISSION_DENIED);
        assertThat(service.contexts).isEmpty();
        awaitNothingInFlight();
    }

    @Test
    void clientFilterMayRefuseAndChangeACall() throws Exception {
        service.publish = text -> Items.of(text + context().metadata().get("added"));
        serve(settings -> {});
        ClientFilter filter = (call, next) -> {
            if (call.method().name().equals("observe")) {
                throw new IllegalStateException("refused by a filter");
            }
            call.metadata().put("added", "+header");
            return next.invoke(call.withArguments("changed"));
        };
        StreamService proxy = refer(client -> client.filter(filter));
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> observed = Probe.ofAll();

        proxy.publish("given").subscribe(published);
        proxy.observe("", observed);

        assertThat(published.rest()).containsExactly("changed+header");
        assertThat(observed.failure()).hasMessage("refused by a filter");
    }

    @Test
    void contextIsSetAroundEveryCallbackOfTheCall() throws Exception {
        List<String> callbacks = new CopyOnWriteArrayList<>();
        service.exchange = answers -> {
            answers.onReady(() -> callbacks.add("ready " + methodOfContext()));
            return new StreamObserver<>() {
                @Override
                public void onNext(byte[] value) {
                    callbacks.add("next " + methodOfContext());
                    answers.onNext(value);
                }

                @Override
                public void onError(Throwable failure) {
                    callbacks.add("error " + methodOfContext());
                }

                @Override
                public void onCompleted() {
                    callbacks.add("completed " + methodOfContext());
                    answers.onCompleted();
                }
            };
        };
        StreamService proxy = proxy();
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy.exchange(answers);
        for (int i = 0; i < 20; i++) {
            requests.onNext(bytes("x"));
            answers.next();
        }
        requests.onCompleted();
        answers.rest();

        assertThat(callbacks).contains("ready exchange", "next exchange", "completed exchange");
        assertThat(callbacks).allMatch(callback -> callback.endsWith(" exchange"));
    }

    @Test
    void contextIsSetAroundCallsIntoPublishersAndSubscribers() throws Exception {
        List<String> callbacks = new CopyOnWriteArrayList<>();
        service.transform = values -> {
            values.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    callbacks.add("subscribe " + methodOfContext());
                    subscription.request(1);
                }

                @Override
                public void onNext(String value) {
                    callbacks.add("next " + methodOfContext());
                }

                @Override
                public void onError(Throwable failure) {
                    callbacks.add("error " + methodOfContext());
                }

                @Override
                public void onComplete() {
                    callbacks.add("complete " + methodOfContext());
                }
            });
            Thread[] own = new Thread[1];
            return subscriber -> {
                own[0] = new Thread(() -> subscriber.onSubscribe(new Flow.Subscription() {
                    @Override
                    public void request(long values) {
                        callbacks.add("request " + methodOfContext());
                        subscriber.onNext("again");
                    }

                    @Override
                    public void cancel() {
                        callbacks.add("cancel " + methodOfContext());
                    }
                }));
                own[0].start();
            };
        };
        Probe<String> answers = Probe.onDemand();
        proxy().transform(Items.endless("x")).subscribe(answers);
        answers.request(1);
        answers.next();
        await("a request has arrived", () -> callbacks.contains("next transform"));
        answers.cancel();

        await("the publisher is cancelled", () -> callbacks.contains("cancel transform"));
        await("the subscriber is told", () -> callbacks.contains("error transform"));
        assertThat(callbacks).contains("subscribe transform", "next transform", "request transform");
        assertThat(callbacks).allMatch(callback -> callback.endsWith(" transform"));
    }

    private static String methodOfContext() {
        ServerContext context = ServerContext.current();
        return context == null ? "none" : context.method().name();
    }

    @Test
    void callbacksOfOneCallFollowOneAnother() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        Runnable alone = () -> {
            if (running.incrementAndGet() > 1) {
                overlaps.incrementAndGet();
            }
            Thread.yield();
            running.decrementAndGet();
        };
        service.exchange = answers -> {
            answers.onReady(alone);
            alone.run();
            return new StreamObserver<>() {
                @Override
                public void onNext(byte[] value) {
                    alone.run();
                    answers.onNext(value);
                }

                @Override
                public void onError(Throwable failure) {
                    alone.run();
                }

                @Override
                public void onCompleted() {
                    alone.run();
                    answers.onCompleted();
                }
            };
        };
        StreamService proxy = proxy();
        for (int round = 0; round < 20; round++) {
            Probe<byte[]> answers = Probe.ofAll();
            StreamObserver<byte[]> requests = proxy.exchange(answers);
            for (int i = 0; i < 50; i++) {
                requests.onNext(new byte[2_000]);
            }
            requests.onCompleted();
            assertThat(answers.rest()).hasSize(50);
        }

        assertThat(overlaps).hasValue(0);
    }

    @Test
    void streamCountsOnceInTheMetersOfBothSides() throws Exception {
        SimpleMeterRegistry serverRegistry = new SimpleMeterRegistry();
        SimpleMeterRegistry clientRegistry = new SimpleMeterRegistry();
        service.publish = text -> {
            if (text.isEmpty()) {
                return Items.numbers(5);
            }
            throw new RpcException(StatusCode.NOT_FOUND, text);
        };
        serve(settings -> settings.meters(new RpcMeters(serverRegistry, Slo.DEFAULT)));
        StreamService proxy = refer(client -> client.meters(new RpcMeters(clientRegistry, Slo.DEFAULT)));
        Probe<String> good = Probe.ofAll();
        Probe<String> bad = Probe.ofAll();

        proxy.publish("").subscribe(good);
        proxy.publish("missing").subscribe(bad);
        good.rest();
        bad.failure();

        await("the server has answered, then counted", () -> total(serverRegistry, RpcMeter.SERVER_REQUESTS) == 2);
        assertThat(count(serverRegistry, RpcMeter.SERVER_REQUESTS, "ok")).isEqualTo(1);
        assertThat(count(serverRegistry, RpcMeter.SERVER_REQUESTS, "not_found")).isEqualTo(1);
        assertThat(count(clientRegistry, RpcMeter.CLIENT_REQUESTS, "ok")).isEqualTo(1);
        assertThat(count(clientRegistry, RpcMeter.CLIENT_REQUESTS, "not_found")).isEqualTo(1);
    }

    private static long total(SimpleMeterRegistry registry, RpcMeter meter) {
        return registry.find(meter.key()).timers().stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }

    private static long count(SimpleMeterRegistry registry, RpcMeter meter, String outcome) {
        return registry
                .find(meter.key())
                .tag(RpcMeter.METHOD, "publish")
                .tag(RpcMeter.OUTCOME, outcome)
                .timers()
                .stream()
                .mapToLong(timer -> timer.count())
                .sum();
    }

    // The following tests cover the whole server.

    @Test
    void messagesOfAnAdmittedStreamAreNotRefusedByAFullServer() throws Exception {
        service.exchange = StreamContractTest::echoing;
        CountDownLatch busy = new CountDownLatch(1);
        service.unary = text -> {
            busy.countDown();
            awaitLetGo();
            return text;
        };
        serve(settings -> settings.workers(1, 0).maxQueueWait(Duration.ofSeconds(10)));
        StreamService proxy = refer(client -> {});
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy.exchange(answers);
        requests.onNext(bytes("before"));
        answers.next();
        Future<String> blocking = inBackground(() -> untilTaken(() -> proxy.unary("x")));
        awaitUninterrupted(busy);

        for (int i = 0; i < 10; i++) {
            requests.onNext(bytes("while it is full"));
        }
        requests.onCompleted();
        letGo.countDown();

        assertThat(answers.rest()).hasSize(10);
        assertThat(blocking.get(20, TimeUnit.SECONDS)).isEqualTo("x");
    }

    /** Repeats the call until it succeeds, because the only worker may still be busy with the previous message. */
    private static String untilTaken(java.util.function.Supplier<String> call) {
        while (true) {
            try {
                return call.get();
            } catch (RpcException e) {
                assertThat(e.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
            }
        }
    }

    @Test
    void methodsThatWaitForTheirRequestsDoNotKeepThemFromComing() throws Exception {
        service.countAndWait = values -> counting(values).toCompletableFuture().join();
        serve(settings -> settings.workers(2, 0));
        StreamService proxy = refer(client -> {});
        List<SubmissionPublisher<String>> requests = List.of(new SubmissionPublisher<>(), new SubmissionPublisher<>());
        List<Future<Integer>> answers = new ArrayList<>();
        for (SubmissionPublisher<String> publisher : requests) {
            answers.add(inBackground(() -> proxy.countAndWait(publisher)));
        }
        await("both methods run", () -> service.contexts.size() == 2);
        await("the requests are subscribed to", () -> requests.stream().allMatch(SubmissionPublisher::hasSubscribers));

        for (SubmissionPublisher<String> publisher : requests) {
            publisher.submit("one");
            publisher.submit("two");
            publisher.close();
        }

        for (Future<Integer> answer : answers) {
            assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo(2);
        }
    }

    @Test
    void drainWaitsForStreamsInFlight() throws Exception {
        service.exchange = StreamContractTest::echoing;
        RpcServer server = serve(settings -> {});
        List<String> order = new CopyOnWriteArrayList<>();
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = refer(client -> {}).exchange(answers);
        requests.onNext(bytes("before"));
        answers.next();
        assertThat(inFlight()).isEqualTo(1);
        Future<?> drained = inBackground(() -> {
            server.drain(LONG);
            order.add("drained");
            return null;
        });

        requests.onNext(bytes("meanwhile"));
        assertThat(answers.next()).isEqualTo(bytes("meanwhile"));
        order.add("stream ended");
        requests.onCompleted();

        assertThat(answers.rest()).isEmpty();
        drained.get(30, TimeUnit.SECONDS);
        assertThat(order).containsExactly("stream ended", "drained");
        assertThat(inFlight()).isZero();
    }
}
