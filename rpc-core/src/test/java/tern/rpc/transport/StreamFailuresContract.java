package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static tern.rpc.transport.StreamContract.bytes;
import static tern.rpc.transport.StreamContract.context;
import static tern.rpc.transport.StreamContract.numbers;
import static tern.rpc.transport.TransportTest.await;
import static tern.rpc.transport.TransportTest.take;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;

interface StreamFailuresContract extends StreamContract {

    @Test
    default void failureOfTheMethodBeforeTheFirstAnswerEndsTheStream() throws Exception {
        service().publish = text -> {
            throw new RpcException(StatusCode.NOT_FOUND, "no " + text);
        };
        service().observe = (text, answers) -> {
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
    default void failureAfterSomeAnswersIsDeliveredAfterThem() throws Exception {
        service().publish =
                text -> Items.failing(new RpcException(StatusCode.DATA_LOSS, "the rest is lost"), numbers(3));
        service().observe = (text, answers) -> {
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
    default void failedRequestsCancelTheCallAndNotifyTheMethod() throws Exception {
        Probe<String> requests = Probe.ofAll();
        service().count = values -> {
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
        assertThat(take(service().contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
    }

    @Test
    default void failedObserverOfRequestsCancelsTheCallAndNotifiesTheMethod() throws Exception {
        Probe<byte[]> received = Probe.ofAll();
        service().exchange = answers -> received;
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);
        requests.onNext(bytes("first"));
        assertThat(received.next()).isEqualTo(bytes("first"));

        requests.onError(new IllegalStateException("changed my mind"));

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(((RpcException) received.failure()).code()).isEqualTo(StatusCode.CANCELLED);
        assertThat(take(service().contexts).isCancelled()).isTrue();
        awaitNothingInFlight();
    }

    @Test
    default void failureOfTheCodeThatTakesRequestsFailsTheCall() throws Exception {
        service().exchange = answers -> Probe.ofAll(value -> {
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
    default void failureOfTheCodeThatTakesAnswersCancelsTheCall() throws Exception {
        Items<String> items = Items.endless("again");
        service().publish = text -> items;
        service().exchange = StreamContract::echoing;
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
    default void methodWhoseStreamTheServerEndsIsNotified() throws Exception {
        CompletableFuture<Boolean> told = new CompletableFuture<>();
        service().observe = (text, answers) -> {
            context().onCancel(() -> told.complete(true));
            answers.onReady(() -> {
                throw new RpcException(StatusCode.DATA_LOSS, "nothing is left");
            });
        };
        Probe<byte[]> answers = Probe.ofAll();

        proxy().observe("", answers);

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.DATA_LOSS);
        assertThat(told.get(20, TimeUnit.SECONDS)).isTrue();
        awaitNothingInFlight();
    }

    @Test
    default void methodWhoseStreamAFilterEndsIsNotified() throws Exception {
        CompletableFuture<Boolean> told = new CompletableFuture<>();
        service().observe = (text, answers) -> context().onCancel(() -> told.complete(true));
        serve(settings -> settings.filter((call, next) -> {
            next.invoke(call);
            return CompletableFuture.failedFuture(new RpcException(StatusCode.ABORTED, "by a filter"));
        }));
        Probe<byte[]> answers = Probe.ofAll();

        refer(settings -> {}).observe("", answers);

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.ABORTED);
        assertThat(told.get(20, TimeUnit.SECONDS)).isTrue();
        awaitNothingInFlight();
    }

    @Test
    default void methodThatEndsItsOwnStreamIsNotCancelled() throws Exception {
        service().observe = (text, answers) -> answers.onError(new RpcException(StatusCode.ABORTED, "enough"));
        Probe<byte[]> answers = Probe.ofAll();

        proxy().observe("", answers);

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.ABORTED);
        awaitNothingInFlight();
        assertThat(take(service().contexts).isCancelled()).isFalse();
    }

    /** A subscriber that throws gets no more signals, so a method that waits for its subscriber does not return. */
    @Test
    default void subscriberThatThrowsEndsTheCallOfAMethodThatWaitsForIt() throws Exception {
        CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
        service().countAndWait = values -> {
            context().onCancel(() -> cancelled.complete(true));
            values.subscribe(Probe.ofAll(value -> {
                throw new IllegalStateException("cannot take " + value);
            }));
            awaitLetGo();
            return 0;
        };
        StreamService proxy = proxy();

        Future<Integer> answer = inBackground(() -> proxy.countAndWait(Items.of(List.of("a", "b"))));

        assertThatThrownBy(() -> answer.get(20, TimeUnit.SECONDS)).hasMessageContaining("cannot take a");
        assertThat(cancelled.get(20, TimeUnit.SECONDS)).isTrue();
        letGoLatch().countDown();
        awaitNothingInFlight();
    }

    @Test
    default void nullInPlaceOfAStreamIsAFailureThatNamesTheMethod() throws Exception {
        service().publish = text -> null;
        service().exchange = answers -> null;
        service().count = values -> null;
        StreamService proxy = proxy();
        Probe<String> published = Probe.ofAll();
        Probe<byte[]> exchanged = Probe.ofAll();

        proxy.publish("").subscribe(published);
        proxy.exchange(exchanged);
        CompletableFuture<Integer> counted = proxy.count(Items.of(List.of("a"))).toCompletableFuture();

        assertThat(published.failure()).hasMessageContaining("StreamService/publish returned null");
        assertThat(exchanged.failure()).hasMessageContaining("StreamService/exchange returned null");
        assertThatThrownBy(() -> counted.get(20, TimeUnit.SECONDS))
                .hasMessageContaining("StreamService/count returned null instead of a CompletionStage");
        assertThatThrownBy(() -> proxy.count(null)).isInstanceOf(NullPointerException.class);
        awaitNothingInFlight();
    }
}
