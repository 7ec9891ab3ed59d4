package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static tern.rpc.transport.StreamContract.bytes;
import static tern.rpc.transport.StreamContract.counting;
import static tern.rpc.transport.TransportTest.await;
import static tern.rpc.transport.TransportTest.take;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.limit.FixedLimit;
import tern.rpc.server.RpcServer;

/**
 *  Tests backpressure, and streams of a server that is full or draining. The backpressure tests compare the numbers of
 * messages written and read.
 */
interface StreamFlowContract extends StreamContract {

    /** The number of chunks to send, many times more than can be in flight. */
    int CHUNKS = 2_048;

    /**
     * The maximum number of chunks in flight between writer and reader. Chunks in flight fill flow-control windows,
     * queues and socket buffers.
     */
    int MAX_UNDER_WAY = 512;

    @Test
    default void slowReaderStopsAServersPublisher() throws Exception {
        String chunk = "x".repeat(CHUNK_BYTES);
        Items<String> items = Items.endless(chunk);
        service().publish = text -> items;
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
    default void slowReaderStopsAClientsPublisher() throws Exception {
        Probe<String> requests = Probe.onDemand();
        CompletableFuture<Integer> answer = new CompletableFuture<>();
        service().count = values -> {
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

    /**
     * The call may end while messages are waiting for the subscriber. Leak detection then finds buffers that were not
     * released.
     */
    @Test
    default void streamThatHasEndedKeepsItsMessagesForASlowSubscriber() throws Exception {
        String chunk = "x".repeat(CHUNK_BYTES);
        service().publish = text -> Items.of(List.of(chunk + 1, chunk + 2, chunk + 3));
        Probe<String> answers = Probe.onDemand();
        proxy().publish("").subscribe(answers);

        answers.request(1);
        assertThat(answers.next()).isEqualTo(chunk + 1);
        awaitNothingInFlight();
        assertThat(answers.ends()).isZero();
        answers.request(1);
        assertThat(answers.next()).isEqualTo(chunk + 2);
        answers.request(1);

        assertThat(answers.rest()).containsExactly(chunk + 3);
    }

    @Test
    default void messagesOfAClientFollowEachOtherAlthoughTheMethodRequestsOneAtATime() throws Exception {
        int messages = 20_000;
        service().transform = values -> answers -> values.subscribe(new EchoOneByOne(answers));
        Probe<String> answers = Probe.ofAll();

        proxy().transform(Items.numbers(messages)).subscribe(answers);

        List<String> received = answers.rest();
        assertThat(received).hasSize(messages).startsWith("0", "1", "2").endsWith(String.valueOf(messages - 1));
        assertThat(received.stream().mapToInt(Integer::parseInt)).isSorted();
        awaitNothingInFlight();
    }

    /** Passes on values, requests and the end of the stream unchanged, like the operators of a reactive library. */
    record EchoOneByOne(Flow.Subscriber<? super String> to) implements Flow.Subscriber<String> {

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            to.onSubscribe(subscription);
        }

        @Override
        public void onNext(String value) {
            to.onNext(value);
        }

        @Override
        public void onError(Throwable failure) {
            to.onError(failure);
        }

        @Override
        public void onComplete() {
            to.onComplete();
        }
    }

    @Test
    default void serverThatChecksReadinessPausesAndContinues() throws Exception {
        AtomicInteger written = new AtomicInteger();
        BlockingQueue<Integer> paused = new LinkedBlockingQueue<>();
        service().exchange = answers -> {
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
    default void clientThatChecksReadinessPausesAndContinues() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        Probe<byte[]> received = Probe.ofAll(value -> awaitUninterrupted(read));
        service().exchange = answers -> received;
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
    default void serverThatIgnoresReadinessWaits() throws Exception {
        AtomicInteger written = new AtomicInteger();
        AtomicReference<Thread> writer = new AtomicReference<>();
        service().observe = (text, answers) -> {
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
    default void clientThatIgnoresReadinessWaits() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        Probe<byte[]> received = Probe.ofAll(value -> awaitUninterrupted(read));
        service().exchange = answers -> received;
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

    /**
     * Returns whether the thread is blocked in {@code onNext}. The threads of these tests never block in other methods.
     */
    private static boolean isWaiting(@Nullable Thread thread) {
        return thread != null
                && (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    @Test
    default void callThatEndsLetsAWaitingWriterGo() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        service().exchange = answers -> {
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
        letGoLatch().countDown();
        awaitNothingInFlight();
    }

    /**
     * The call must end even if the code that receives its requests is busy. Requests are delivered on the thread that
     * ran the method.
     */
    @Test
    default void callEndsAlthoughTheCodeThatTakesItsRequestsIsBusy() throws Exception {
        CompletableFuture<StreamObserver<byte[]>> sender = new CompletableFuture<>();
        CountDownLatch busy = new CountDownLatch(1);
        service().exchange = answers -> {
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
        letGoLatch().countDown();
        awaitNothingInFlight();
    }

    @Test
    default void messagesOfAnAdmittedStreamAreNotRefusedByAFullServer() throws Exception {
        service().exchange = StreamContract::echoing;
        CountDownLatch busy = new CountDownLatch(1);
        service().unary = text -> {
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
        letGoLatch().countDown();

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
    default void methodsThatWaitForTheirRequestsDoNotKeepThemFromComing() throws Exception {
        service().countAndWait =
                values -> counting(values).toCompletableFuture().join();
        serve(settings -> settings.workers(2, 0));
        StreamService proxy = refer(client -> {});
        List<SubmissionPublisher<String>> requests = List.of(new SubmissionPublisher<>(), new SubmissionPublisher<>());
        List<Future<Integer>> answers = new ArrayList<>();
        for (SubmissionPublisher<String> publisher : requests) {
            answers.add(inBackground(() -> proxy.countAndWait(publisher)));
        }
        await("both methods run", () -> service().contexts.size() == 2);
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

    /**
     * A client has at most 200 threads for callbacks. In this test, each of these threads is blocked, waiting for
     * another stream.
     */
    @Test
    default void callbacksThatWaitForStreamsDoNotKeepThemFromEnding() throws Exception {
        int callbacks = 200;
        service().publish = text -> Items.of(List.of(text));
        service().countAndWait = values -> 7;
        serve(settings -> settings.workers(20, 1_000).maxQueueWait(LONG).limit(() -> new FixedLimit(1_000)));
        StreamService proxy = refer(client -> {});
        CountDownLatch entered = new CountDownLatch(callbacks);
        List<Probe<String>> probes = new ArrayList<>();
        LongAdder counted = new LongAdder();
        for (int i = 0; i < callbacks; i++) {
            Probe<String> probe = Probe.ofAll(value -> {
                entered.countDown();
                awaitAll(entered);
                counted.add(proxy.countAndWait(Items.of(List.of(value))));
            });
            proxy.publish("x").subscribe(probe);
            probes.add(probe);
        }

        for (Probe<String> probe : probes) {
            assertThat(probe.rest()).containsExactly("x");
        }

        assertThat(counted.sum()).isEqualTo(7L * callbacks);
    }

    private static void awaitAll(CountDownLatch entered) {
        try {
            if (!entered.await(30, TimeUnit.SECONDS)) {
                throw new AssertionError("some callbacks did not run");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    default void drainWaitsForStreamsInFlight() throws Exception {
        service().exchange = StreamContract::echoing;
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
