package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.IdleConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.Probe;
import tern.rpc.transport.UnsentCallException;

/** Tests how a streaming call is retried if its endpoint fails. The test plays the role of the transport. */
@Timeout(60)
class StreamAttemptsTest {

    interface Streams {
        Flow.Publisher<String> answers(String text);

        StreamObserver<String> both(StreamObserver<String> answers);

        CompletionStage<String> requests(Flow.Publisher<String> values);
    }

    private final BlockingQueue<OpenedStream> opened = new LinkedBlockingQueue<>();
    private final List<Endpoint> refused = new ArrayList<>();
    private volatile boolean refusing;
    private volatile boolean readyAtOpen = true;
    private volatile Runnable beforeOpen = () -> {};
    private @Nullable RpcClient client;

    private final class Connection extends IdleConnection {
        Connection(Endpoint endpoint) {
            super(endpoint);
        }

        @Override
        public void send(PendingCall call) {
            throw new AssertionError("not a stream");
        }

        @Override
        public ClientStream open(PendingCall call, ClientStream.Receiver receiver) {
            beforeOpen.run();
            if (refusing) {
                refusing = false;
                refused.add(endpoint);
                throw unexecuted();
            }
            OpenedStream stream = new OpenedStream(endpoint, call, receiver);
            stream.ready = readyAtOpen;
            opened.add(stream);
            return stream;
        }
    }

    private static RpcException unexecuted() {
        return RpcException.refusal(StatusCode.UNAVAILABLE, "not connected", Executed.NO);
    }

    private Streams proxy(Endpoint... endpoints) {
        RpcClient made = RpcClient.builder()
                .transport(new FakeTransport(Connection::new))
                .build();
        client = made;
        return made.refer(ServiceReference.to(Streams.class, new StaticEndpoints(List.of(endpoints)))
                .protocol("fake")
                .build());
    }

    private Streams proxyOfTwo() {
        return proxy(new Endpoint("one", 1), new Endpoint("two", 2));
    }

    private OpenedStream next() throws InterruptedException {
        OpenedStream next = opened.poll(20, TimeUnit.SECONDS);
        assertThat(next).as("a stream is opened").isNotNull();
        return next;
    }

    @AfterEach
    void close() {
        if (client != null) {
            client.close();
        }
    }

    @Test
    void endpointThatCannotOpenIsFollowedByAnother() throws Exception {
        Streams proxy = proxyOfTwo();
        refusing = true;
        Probe<String> answers = Probe.ofAll();

        proxy.answers("x").subscribe(answers);

        OpenedStream stream = next();
        assertThat(refused).hasSize(1).doesNotContain(stream.endpoint);
        assertThat(stream.pending.call().arguments()).containsExactly("x");
        stream.answer("a");
        stream.complete();
        assertThat(answers.rest()).containsExactly("a");
    }

    @Test
    void callFailsIfTheSingleEndpointCannotOpenAStream() throws Exception {
        Streams proxy = proxy(new Endpoint("one", 1));
        refusing = true;
        Probe<String> answers = Probe.ofAll();

        proxy.answers("x").subscribe(answers);

        RpcException failure = (RpcException) answers.failure();
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(opened).isEmpty();
    }

    @Test
    void streamRefusedUnexecutedIsSentToAnotherWithItsDemand() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.onDemand();
        proxy.answers("x").subscribe(answers);
        OpenedStream first = next();
        answers.request(3);
        answers.request(2);

        first.pending.fail(unexecuted());

        OpenedStream second = next();
        assertThat(second.endpoint).isNotEqualTo(first.endpoint);
        second.answer("a");
        second.complete();
        assertThat(answers.rest()).containsExactly("a");
        assertThat(second.requested.stream().mapToInt(Integer::intValue).sum())
                .as("the requested answers and those in advance")
                .isEqualTo(16);
    }

    @Test
    void streamThatGotNoConnectionIsOpenedAgainAtTheSameEndpoint() throws Exception {
        Streams proxy = proxy(new Endpoint("one", 1));
        readyAtOpen = false;
        Probe<String> answers = Probe.ofAll();
        StreamObserver<String> requests = proxy.both(answers);
        requests.onCompleted();

        for (int i = 0; i < 100; i++) { // more attempts than the retry budget allows
            next().pending.fail(new UnsentCallException("all streams are in use"));
        }

        OpenedStream last = next();
        last.answer("a");
        last.complete();
        assertThat(answers.rest()).containsExactly("a");
        assertThat(last.ends).isEqualTo(1);
    }

    @Test
    void nothingIsRepeatedAfterAnAnswer() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.ofAll();
        proxy.answers("x").subscribe(answers);
        OpenedStream first = next();
        first.answer("a");

        first.pending.fail(unexecuted());

        assertThat(answers.next()).isEqualTo("a");
        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(opened).isEmpty();
    }

    @Test
    void nothingIsRepeatedAfterARequest() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.ofAll();
        StreamObserver<String> requests = proxy.both(answers);
        OpenedStream first = next();
        requests.onNext("r");

        first.pending.fail(unexecuted());

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(opened).isEmpty();
        assertThat(first.sent).containsExactly("r");
    }

    private static RpcException missing() {
        return RpcException.refusal(StatusCode.UNIMPLEMENTED, "Streams has no method answers", Executed.NO);
    }

    @Test
    void streamOfAMissingMethodGoesToTheProviderThatHasTheMethod() throws Exception {
        Endpoint old = new Endpoint("one", 1);
        Streams proxy = proxyOfTwo();
        int refusals = 0;

        for (int i = 0; i < 40; i++) {
            Probe<String> answers = Probe.ofAll();
            proxy.answers("x").subscribe(answers);
            OpenedStream stream = next();
            if (stream.endpoint.equals(old)) {
                refusals++;
                stream.pending.fail(missing());
                stream = next();
            }
            stream.answer("a");
            stream.complete();
            assertThat(answers.rest()).containsExactly("a");
        }

        assertThat(refusals).isLessThanOrEqualTo(1);
    }

    @Test
    void oneStreamIsLostAtAProviderThatLacksTheMethodIfItsRequestsCannotBeRepeated() throws Exception {
        Endpoint old = new Endpoint("one", 1);
        Streams proxy = proxyOfTwo();
        int lost = 0;

        for (int i = 0; i < 40; i++) {
            Probe<String> answers = Probe.ofAll();
            StreamObserver<String> requests = proxy.both(answers);
            OpenedStream stream = next();
            requests.onNext("r");
            if (stream.endpoint.equals(old)) {
                lost++;
                stream.pending.fail(missing());
                assertThat(answers.failure()).hasMessageContaining("providers asked: 1 of 2");
            } else {
                stream.complete();
                assertThat(answers.rest()).isEmpty();
            }
        }

        assertThat(lost).isLessThanOrEqualTo(1);
    }

    /** Sends values without a request, like a faulty publisher. */
    private static final class Unasked implements Flow.Publisher<String> {
        private Flow.@Nullable Subscriber<? super String> subscriber;

        @Override
        public void subscribe(Flow.Subscriber<? super String> given) {
            subscriber = given;
            given.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long values) {
                    // This publisher ignores requests. The test calls send() to publish a value.
                }

                @Override
                public void cancel() {
                    // This publisher ignores cancellations.
                }
            });
        }

        void send(String value) {
            Flow.Subscriber<? super String> to = subscriber;
            if (to != null) {
                to.onNext(value);
            }
        }
    }

    @Test
    void nothingIsRepeatedAfterAValueThatWasNotRequested() throws Exception {
        Streams proxy = proxyOfTwo();
        readyAtOpen = false;
        Unasked values = new Unasked();
        CompletableFuture<String> answer = proxy.requests(values).toCompletableFuture();
        OpenedStream first = next();
        values.send("a");

        first.pending.fail(unexecuted());

        assertThat(codeOf(answer)).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(opened).isEmpty();
        assertThat(first.sent).containsExactly("a");
    }

    @Test
    void requestWithoutAStreamFailsTheCallAndIsNotLost() throws Exception {
        Streams proxy = proxyOfTwo();
        readyAtOpen = false;
        Unasked values = new Unasked();
        CompletableFuture<String> answer = proxy.requests(values).toCompletableFuture();
        OpenedStream first = next();
        beforeOpen = () -> values.send("a");

        first.pending.fail(unexecuted());

        assertThat(codeOf(answer)).isEqualTo(StatusCode.INTERNAL);
    }

    private static StatusCode codeOf(CompletableFuture<?> failed) {
        ExecutionException failure =
                catchThrowableOfType(ExecutionException.class, () -> failed.get(20, TimeUnit.SECONDS));
        return ((RpcException) failure.getCause()).code();
    }

    @Test
    void nothingIsRepeatedThatMayHaveRun() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.ofAll();
        proxy.answers("x").subscribe(answers);

        next().pending.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "lost", Executed.MAYBE));

        assertThat(answers.failure()).hasMessageContaining("lost");
        assertThat(opened).isEmpty();
    }

    @Test
    void requestsGoToTheEndpointThatTookTheStream() throws Exception {
        Streams proxy = proxyOfTwo();
        refusing = true;
        Probe<String> answers = Probe.ofAll();

        StreamObserver<String> requests = proxy.both(answers);
        OpenedStream stream = next();
        requests.onNext("a");
        requests.onNext("b");
        requests.onCompleted();
        stream.answer("c");
        stream.complete();

        assertThat(stream.sent).containsExactly("a", "b");
        assertThat(stream.ends).isEqualTo(1);
        assertThat(answers.rest()).containsExactly("c");
    }

    @Test
    void endOfRequestsReachesTheNextEndpointToo() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.ofAll();
        StreamObserver<String> requests = proxy.both(answers);
        OpenedStream first = next();
        requests.onCompleted();
        assertThat(first.ends).isEqualTo(1);

        first.pending.fail(unexecuted());

        OpenedStream second = next();
        second.complete();
        assertThat(answers.rest()).isEmpty();
        assertThat(second.ends).isEqualTo(1);
    }

    @Test
    void waitingWriterContinuesWithTheNextEndpoint() throws Exception {
        Streams proxy = proxyOfTwo();
        readyAtOpen = false;
        Probe<String> answers = Probe.ofAll();
        StreamObserver<String> requests = proxy.both(answers);
        OpenedStream first = next();
        Thread writer = new Thread(() -> {
            requests.onNext("patient");
            requests.onCompleted();
        });
        writer.start();
        readyAtOpen = true;

        first.pending.fail(unexecuted());
        OpenedStream second = next();
        writer.join();
        second.complete();

        assertThat(answers.rest()).isEmpty();
        assertThat(first.sent).isEmpty();
        assertThat(second.sent).containsExactly("patient");
    }

    @Test
    void cancelledCallIsNotRepeated() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.onDemand();
        proxy.answers("x").subscribe(answers);
        OpenedStream first = next();

        answers.cancel();

        assertThat(first.pending.isDone()).isTrue();
        assertThat(answers.ends()).isZero();
        assertThat(opened).isEmpty();
    }

    @Test
    void secondAnswerWhereOneIsExpectedFailsTheCall() throws Exception {
        Streams proxy = proxyOfTwo();
        CompletableFuture<String> answer =
                proxy.requests(new SubmissionPublisher<>()).toCompletableFuture();
        OpenedStream stream = next();

        stream.answer("a");
        stream.answer("b");

        assertThat(catchThrowableOfType(ExecutionException.class, () -> answer.get(20, TimeUnit.SECONDS))
                        .getCause())
                .hasMessageContaining("Streams/requests was answered twice");
        assertThat(stream.pending.isDone()).isTrue();
    }

    @Test
    void endWithoutTheOneAnswerFailsTheCall() throws Exception {
        Streams proxy = proxyOfTwo();
        CompletableFuture<String> answer =
                proxy.requests(new SubmissionPublisher<>()).toCompletableFuture();

        next().complete();

        assertThat(catchThrowableOfType(ExecutionException.class, () -> answer.get(20, TimeUnit.SECONDS))
                        .getCause())
                .hasMessageContaining("Streams/requests ended without an answer");
    }

    @Test
    void callbackThatWaitsToSendContinuesWhenTheCallEnds() throws Exception {
        Streams proxy = proxyOfTwo();
        CompletableFuture<StreamObserver<String>> requests = new CompletableFuture<>();
        CompletableFuture<Boolean> inCallback = new CompletableFuture<>();
        Probe<String> answers = Probe.ofAll(value -> {
            inCallback.complete(true);
            // This call blocks the callback thread, which also delivers the end of the stream.
            requests.join().onNext("reply");
        });
        requests.complete(proxy.both(answers));
        OpenedStream stream = next();
        stream.ready = false;
        stream.answer("a");
        inCallback.get(20, TimeUnit.SECONDS);

        stream.complete();

        assertThat(answers.failure()).isInstanceOf(RpcException.class).hasMessageContaining("the call is over");
    }

    @Test
    void senderLearnsWhyItsCallFailed() throws Exception {
        Streams proxy = proxyOfTwo();
        Probe<String> answers = Probe.ofAll();
        StreamObserver<String> requests = proxy.both(answers);
        requests.onNext("a");

        next().pending.fail(new RpcException(StatusCode.RESOURCE_EXHAUSTED, "no thread was free"));

        answers.failure();
        assertThatThrownBy(() -> requests.onNext("b"))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("the call is over")
                .hasMessageContaining("no thread was free");
    }

    @Test
    void senderForWhichACallbackWaitsContinuesWhenTheCallEnds() throws Exception {
        Streams proxy = proxyOfTwo();
        CompletableFuture<Boolean> inCallback = new CompletableFuture<>();
        CompletableFuture<Boolean> mayReturn = new CompletableFuture<>();
        Probe<String> answers = Probe.ofAll(value -> {
            inCallback.complete(true);
            mayReturn.join(); // the callback waits until the sender has sent its value
        });
        StreamObserver<String> requests = proxy.both(answers);
        OpenedStream stream = next();
        requests.onNext("a");
        stream.ready = false;
        stream.answer("b");
        inCallback.get(20, TimeUnit.SECONDS);
        CompletableFuture<RpcException> failure = new CompletableFuture<>();
        new Thread(() -> failure.complete(catchThrowableOfType(RpcException.class, () -> requests.onNext("c"))))
                .start();

        stream.complete();

        assertThat(failure.get(20, TimeUnit.SECONDS)).hasMessageContaining("the call is over");
        mayReturn.complete(true);
        assertThat(answers.rest()).containsExactly("b");
        assertThat(stream.sent).containsExactly("a");
    }

    @Test
    void endsThatRaceEndTheStreamOnce() throws Exception {
        Streams proxy = proxyOfTwo();
        for (int round = 0; round < 300; round++) {
            Probe<String> answers = Probe.ofAll();
            StreamObserver<String> requests = proxy.both(answers);
            OpenedStream stream = next();
            List<Thread> racers = List.of(
                    new Thread(() -> stream.answer("a")),
                    new Thread(stream::complete),
                    new Thread(() -> requests.onError(new IllegalStateException("gone"))),
                    new Thread(() ->
                            stream.pending.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "lost", Executed.MAYBE))));
            racers.forEach(Thread::start);
            for (Thread racer : racers) {
                racer.join();
            }

            while (answers.ends() == 0) {
                Thread.yield();
            }
            assertThat(answers.ends()).isEqualTo(1);
        }
        assertThat(opened).isEmpty();
    }
}
