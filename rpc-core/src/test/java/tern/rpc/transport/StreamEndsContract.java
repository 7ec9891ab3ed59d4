package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static tern.rpc.transport.StreamContract.bytes;
import static tern.rpc.transport.StreamContract.context;
import static tern.rpc.transport.TransportTest.await;
import static tern.rpc.transport.TransportTest.take;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.CallOptions;
import tern.rpc.Deadline;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.server.RpcServer;

/** Tests streams that end by cancellation, by deadline, or because the client or the server ends them. */
interface StreamEndsContract extends StreamContract {

    @Test
    default void cancelOfTheAnswersReachesTheMethod() throws Exception {
        Items<String> items = Items.endless("again");
        service().publish = text -> items;
        Probe<String> answers = Probe.onDemand();
        proxy().publish("").subscribe(answers);
        answers.request(3);
        assertThat(List.of(answers.next(), answers.next(), answers.next())).hasSize(3);

        answers.cancel();

        await("the method's publisher is cancelled", items.cancelled::get);
        assertThat(take(service().contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
        assertThat(answers.ends()).isZero();
    }

    @Test
    default void cancelEndsRequestsAndAnswersOfTheMethod() throws Exception {
        Probe<String> received = Probe.ofAll();
        AtomicReference<StreamObserver<String>> sender = new AtomicReference<>();
        service().transformObserved = (values, answers) -> {
            sender.set(answers);
            values.subscribe(received);
        };
        service().transform = values -> {
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
    default void sendingAfterACancelFails() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service().exchange = answers -> {
            sender.complete(answers);
            return Probe.ofAll();
        };
        StreamObserver<byte[]> requests = proxy().exchange(Probe.ofAll());
        StreamObserver<byte[]> answers = sender.get(20, TimeUnit.SECONDS);
        answers.onNext(bytes("while it lasts"));

        requests.onError(new IllegalStateException("gone"));
        ServerContext context = take(service().contexts);
        await("the call is cancelled", context::isCancelled);

        await("sending fails", () -> catchThrowable(() -> answers.onNext(bytes("x"))) instanceof RpcException);
        assertThat(answers.isReady()).isFalse();
        answers.onCompleted();
        answers.onError(new IllegalStateException("too late"));
        awaitNothingInFlight();
    }

    @Test
    default void cancelledFutureOfAStreamOfRequestsEndsTheCall() throws Exception {
        Probe<String> received = Probe.ofAll();
        service().count = values -> {
            values.subscribe(received);
            return new CompletableFuture<>();
        };
        Items<String> requests = Items.endless("more");
        CompletableFuture<Integer> answer = proxy().count(requests).toCompletableFuture();
        received.next();

        assertThat(answer.cancel(true)).isTrue();

        await("the requests end", () -> received.ends() == 1);
        await("the client's publisher is cancelled", requests.cancelled::get);
        assertThat(take(service().contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
    }

    @Test
    default void serverThatAnswersEarlyStopsTheRequests() throws Exception {
        service().count = values -> {
            values.subscribe(Probe.ofAll());
            return CompletableFuture.completedFuture(-1);
        };
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service().exchange = answers -> {
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
    default void requestsThatTheMethodNeedsNoMoreMayBeCancelled() throws Exception {
        service().count = values -> {
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
    default void closedServerEndsStreamsOnBothSides() throws Exception {
        Probe<byte[]> received = Probe.ofAll();
        service().exchange = answers -> received;
        RpcServer server = serve(settings -> {});
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = refer(client -> {}).exchange(answers);
        requests.onNext(bytes("first"));
        received.next();

        server.close();

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(((RpcException) received.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(take(service().contexts).isCancelled()).isTrue();
    }

    @Test
    default void cancelsThatRaceWithTheBeginningLeaveNothingBehind() throws Exception {
        service().publish = text -> Items.endless("again");
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

    @Test
    default void deadlineEndsAStreamOnBothSides() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service().observe = (text, answers) -> {
            answers.onNext(bytes("in time"));
            sender.complete(answers);
        };
        StreamService proxy = proxy();
        Probe<byte[]> answers;
        // On a busy machine, the deadline may pass before the first answer arrives. The call is then repeated.
        do {
            Probe<byte[]> told = Probe.ofAll();
            proxy.observeBriefly("", told);
            await("the stream ends", () -> told.ends() == 1);
            answers = told;
        } while (answers.count() == 0);

        assertThat(answers.next()).isEqualTo(bytes("in time"));
        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        ServerContext context = take(service().contexts);
        await("the method learns of it", context::isCancelled);
        StreamObserver<byte[]> late = sender.get(20, TimeUnit.SECONDS);
        await("sending fails", () -> catchThrowable(() -> late.onNext(bytes("x"))) instanceof RpcException);
        awaitNothingInFlight();
    }

    @Test
    default void deadlineEndsAMethodThatWaitsToSend() throws Exception {
        CompletableFuture<RpcException> failure = new CompletableFuture<>();
        byte[] chunk = new byte[CHUNK_BYTES];
        service().observe = (text, answers) -> failure.complete(catchThrowableOfType(RpcException.class, () -> {
            while (true) {
                answers.onNext(chunk);
            }
        }));
        StreamService proxy = CallOptions.none().timeout(Duration.ofMillis(300)).on(proxy());
        List<Probe<byte[]>> observers = new ArrayList<>();
        // On a busy machine, the deadline may pass before the method begins. The call is then repeated.
        do {
            Probe<byte[]> stuck = Probe.ofAll(value -> awaitLetGo());
            observers.add(stuck);
            proxy.observe("", stuck);
            await("begun, or over", () -> !service().contexts.isEmpty() || stuck.ends() == 1);
        } while (service().contexts.isEmpty());

        assertThat(failure.get(20, TimeUnit.SECONDS).code()).isIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.CANCELLED);
        letGoLatch().countDown();
        await("the observers are told", () -> observers.stream().allMatch(stuck -> stuck.ends() == 1));
        awaitNothingInFlight();
    }

    @Test
    default void deadlineFailsTheRequestsAtTheServer() throws Exception {
        BlockingQueue<Probe<byte[]>> begun = new LinkedBlockingQueue<>();
        service().exchange = answers -> {
            Probe<byte[]> requests = Probe.ofAll();
            begun.add(requests);
            return requests;
        };
        StreamService proxy = CallOptions.none().timeout(Duration.ofMillis(200)).on(proxy());

        Probe<byte[]> received;
        // On a busy machine, the deadline may pass before the method begins. The call is then repeated.
        do {
            Probe<byte[]> answers = Probe.ofAll();
            proxy.exchange(answers);
            answers.failure();
            received = begun.poll();
        } while (received == null);

        assertThat(((RpcException) received.failure()).code()).isIn(StatusCode.DEADLINE_EXCEEDED, StatusCode.CANCELLED);
    }

    @Test
    default void streamHasNoTimeoutUnlessOneIsSetForIt() throws Exception {
        service().publish = text -> Items.of();
        service().count = StreamContract::counting;
        StreamService proxy = proxy();
        Probe<String> answers = Probe.ofAll();

        proxy.publish("").subscribe(answers);
        answers.rest();
        assertThat(take(service().contexts).deadline().isLimited()).isFalse();

        proxy.count(Items.of()).toCompletableFuture().get(20, TimeUnit.SECONDS);
        assertThat(take(service().contexts).deadline().isLimited()).isFalse();

        CallOptions.none().timeout(LONG).on(proxy).publish("").subscribe(Probe.ofAll());
        assertThat(take(service().contexts).deadline().isLimited()).isTrue();
    }

    @Test
    default void deadlineOfTheCallBeingServedLimitsAStream() throws Exception {
        StreamService proxy = proxy();
        service().publish = text -> Items.of();
        service().unary = text -> {
            proxy.publish("").subscribe(Probe.ofAll());
            return text;
        };

        proxy.unary("x");

        Deadline outer = take(service().contexts).deadline();
        Deadline inner = take(service().contexts).deadline();
        assertThat(outer.isLimited()).isTrue();
        assertThat(inner.isLimited()).isTrue();
    }
}
