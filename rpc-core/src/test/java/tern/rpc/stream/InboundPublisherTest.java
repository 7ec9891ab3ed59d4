package tern.rpc.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.transport.Probe;

@Timeout(60)
class InboundPublisherTest {

    private final FakeSource source = new FakeSource();
    private final InboundPublisher publisher =
            new InboundPublisher("Service/method", new SerialExecutor(Runnable::run), source);

    private FakeMessage bring(@Nullable Object value) {
        FakeMessage message = new FakeMessage(value);
        publisher.message(message);
        return message;
    }

    @Test
    void messagesAreDecodedAndHandedOverInOrder() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        probe.request(3);

        List<FakeMessage> messages = List.of(bring("a"), bring("b"), bring("c"));
        publisher.complete();

        assertThat(probe.rest()).containsExactly("a", "b", "c");
        assertThat(messages).allSatisfy(message -> {
            assertThat(message.decoded).hasValue(1);
            assertThat(message.discarded).hasValue(0);
        });
        assertThat(source.cancels).hasValue(0);
    }

    @Test
    void endBeforeTheSubscriptionIsDeliveredLater() throws Exception {
        publisher.fail(new IllegalStateException("early"));
        publisher.complete();
        Probe<Object> probe = Probe.ofAll();

        publisher.subscribe(probe);

        assertThat(probe.failure()).hasMessage("early");
    }

    @Test
    void endIsDeliveredOnce() throws Exception {
        Probe<Object> probe = Probe.ofAll();
        publisher.subscribe(probe);

        publisher.complete();
        publisher.fail(new IllegalStateException("late"));
        publisher.complete();

        assertThat(probe.rest()).isEmpty();
        assertThat(probe.ends()).isEqualTo(1);
    }

    @Test
    void requestOfZeroOrLessIsAnErrorOfTheSubscriber() throws Exception {
        for (long wrong : new long[] {0, -1, Long.MIN_VALUE}) {
            FakeSource asked = new FakeSource();
            InboundPublisher tested = new InboundPublisher("Service/method", new SerialExecutor(Runnable::run), asked);
            Probe<Object> probe = Probe.onDemand();
            tested.subscribe(probe);

            probe.request(wrong);

            assertThat(probe.failure())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("Service/method")
                    .hasMessageContaining(String.valueOf(wrong));
            assertThat(asked.failures).hasSize(1);
            assertThat(asked.requests).isEmpty();
        }
    }

    @Test
    void demandDoesNotOverflow() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        probe.request(Long.MAX_VALUE);
        probe.request(Long.MAX_VALUE);
        for (int i = 0; i < 1_000; i++) {
            bring(i);
        }

        assertThat(source.requests.stream().mapToInt(Integer::intValue).sum()).isGreaterThanOrEqualTo(1_000);
        assertThat(probe.count()).isEqualTo(1_000);
    }

    @Test
    void secondSubscriberIsRefused() throws Exception {
        Probe<Object> first = Probe.ofAll();
        Probe<Object> second = Probe.ofAll();
        publisher.subscribe(first);

        publisher.subscribe(second);

        assertThat(second.failure()).isInstanceOf(IllegalStateException.class).hasMessageContaining("one subscriber");
        second.cancel();
        assertThat(source.cancels).hasValue(0);
        bring("x");
        assertThat(first.next()).isEqualTo("x");
    }

    @Test
    void nullSubscriberIsRefused() {
        assertThatThrownBy(() -> publisher.subscribe(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void cancelDiscardsLaterMessages() throws Exception {
        Probe<Object> probe = Probe.ofAll();
        publisher.subscribe(probe);

        probe.cancel();
        probe.cancel();
        FakeMessage message = bring("x");
        publisher.complete();
        probe.request(5);

        assertThat(source.cancels).hasValue(1);
        assertThat(message.discarded).hasValue(1);
        assertThat(message.decoded).hasValue(0);
        assertThat(probe.ends()).isZero();
        assertThat(source.requests).containsExactly(16);
    }

    @Test
    void cancelBetweenHandOverAndRunDiscardsToo() throws Exception {
        List<Runnable> later = new ArrayList<>();
        InboundPublisher tested = new InboundPublisher("m", new SerialExecutor(later::add), source);
        Probe<Object> probe = Probe.ofAll();
        tested.subscribe(probe);
        later.remove(0).run();
        FakeMessage message = new FakeMessage("x");
        tested.message(message);

        probe.cancel();
        later.remove(0).run();

        assertThat(message.discarded).hasValue(1);
        assertThat(probe.count()).isZero();
    }

    @Test
    void messageWithoutASubscriberIsDiscarded() {
        assertThat(bring("x").discarded).hasValue(1);
    }

    @Test
    void unreadableMessageEndsTheStreamWithItsReason() throws Exception {
        Probe<Object> probe = Probe.ofAll();
        publisher.subscribe(probe);
        RpcException reason = new RpcException(StatusCode.INTERNAL, "garbage");

        bring(reason);
        FakeMessage next = bring("x");

        assertThat(probe.failure()).isSameAs(reason);
        assertThat(source.failures).containsExactly(reason);
        assertThat(next.discarded).hasValue(1);
    }

    @Test
    void subscriberThatThrowsGetsNoMoreSignals() throws Exception {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        Probe<Object> probe = Probe.ofAll(value -> {
            throw thrown;
        });
        publisher.subscribe(probe);

        bring("x");
        FakeMessage next = bring("y");
        publisher.fail(new RpcException(StatusCode.CANCELLED, "as a consequence"));

        assertThat(source.failures).containsExactly(thrown);
        assertThat(next.discarded).hasValue(1);
        assertThat(probe.ends()).isZero();
        assertThat(probe.count()).isEqualTo(1);
    }

    @Test
    void subscriberThatThrowsAtOnceGetsNoSignals() {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        publisher.subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                throw thrown;
            }

            @Override
            public void onNext(Object value) {
                throw new AssertionError("told a value");
            }

            @Override
            public void onError(Throwable failure) {
                throw new AssertionError("told an error");
            }

            @Override
            public void onComplete() {
                throw new AssertionError("told an end");
            }
        });
        publisher.complete();

        assertThat(source.failures).containsExactly(thrown);
    }

    @Test
    void nullIsForObserversOnly() throws Exception {
        Probe<Object> probe = Probe.ofAll();
        publisher.subscribe(probe);
        bring(null);
        assertThat(probe.failure()).isInstanceOf(RpcException.class).hasMessageContaining("null");

        FakeSource other = new FakeSource();
        InboundPublisher fed = new InboundPublisher("m", new SerialExecutor(Runnable::run), other);
        List<@Nullable Object> seen = new ArrayList<>();
        fed.feed(new StreamObserver<>() {
            @Override
            public void onNext(Object value) {
                seen.add(value);
            }

            @Override
            public void onError(Throwable failure) {
                throw new AssertionError(failure);
            }

            @Override
            public void onCompleted() {
                seen.add("end");
            }
        });
        fed.message(new FakeMessage(null));
        fed.message(new FakeMessage("x"));
        fed.complete();

        assertThat(seen).containsExactly(null, "x", "end");
        assertThat(other.failures).isEmpty();
    }

    @Test
    void observerGetsOneMessageAtATime() throws Exception {
        List<Runnable> later = new ArrayList<>();
        InboundPublisher tested = new InboundPublisher("m", new SerialExecutor(later::add), source);
        List<Object> seen = new ArrayList<>();
        AtomicInteger inside = new AtomicInteger();
        tested.feed(Probe.ofAll(value -> {
            assertThat(inside.incrementAndGet()).isEqualTo(1);
            tested.message(new FakeMessage("after " + value));
            seen.add(value);
            inside.decrementAndGet();
        }));
        later.remove(0).run();
        tested.message(new FakeMessage("a"));
        tested.message(new FakeMessage("b"));

        later.remove(0).run(); // One task delivers at most 256 messages.

        assertThat(seen).hasSize(256).startsWith("a", "b", "after a", "after b");
        assertThat(later).as("the rest comes later, after other streams").hasSize(1);
    }

    @Test
    void observerThatThrowsGetsItsOwnFailureOnce() throws Exception {
        IllegalStateException thrown = new IllegalStateException("on purpose");
        Probe<Object> observer = Probe.ofAll(value -> {
            throw thrown;
        });
        publisher.feed(observer);

        bring("a");
        publisher.fail(new RpcException(StatusCode.CANCELLED, "as a consequence"));

        assertThat(observer.failure()).isSameAs(thrown);
        assertThat(observer.ends()).isEqualTo(1);
        assertThat(source.failures).containsExactly(thrown);
    }

    @Test
    void everyMessageIsReadOrDiscardedAndTheEndDeliveredOnceInAnyRace() throws Exception {
        int rounds = 300;
        ExecutorService pool = Executors.newFixedThreadPool(4);
        ExecutorService racers = Executors.newFixedThreadPool(3);
        for (int round = 0; round < rounds; round++) {
            SerialExecutor serial = new SerialExecutor(pool);
            InboundPublisher tested = new InboundPublisher("m", serial, source);
            Probe<Object> probe = round % 3 == 0 ? Probe.onDemand() : Probe.ofAll();
            tested.subscribe(probe);
            Flow.Subscription subscription = probe.subscription();
            if (round % 3 == 0) {
                subscription.request(5);
            }
            List<FakeMessage> messages = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                messages.add(new FakeMessage(i));
            }
            CountDownLatch start = new CountDownLatch(1);
            boolean cancels = round % 2 == 0;
            List<Future<?>> racing = List.of(
                    racers.submit(() -> {
                        start.await();
                        messages.forEach(tested::message);
                        return null;
                    }),
                    racers.submit(() -> {
                        start.await();
                        tested.failEarly(new RpcException(StatusCode.CANCELLED, "gone"));
                        return null;
                    }),
                    racers.submit(() -> {
                        start.await();
                        if (cancels) {
                            subscription.cancel();
                        }
                        tested.complete();
                        return null;
                    }));
            start.countDown();
            for (Future<?> racer : racing) {
                racer.get(20, TimeUnit.SECONDS);
            }
            // the messages may be delivered by several tasks, so the test waits for as many tasks as there are messages
            for (int task = 0; task < messages.size(); task++) {
                CountDownLatch settled = new CountDownLatch(1);
                serial.execute(settled::countDown);
                assertThat(settled.await(20, TimeUnit.SECONDS)).isTrue();
            }

            assertThat(messages)
                    .allSatisfy(message -> assertThat(message.decoded.get() + message.discarded.get())
                            .isEqualTo(1));
            assertThat(probe.ends()).isLessThanOrEqualTo(1);
            if (!cancels) {
                assertThat(probe.ends()).isEqualTo(1);
            }
        }
        racers.shutdown();
        pool.shutdown();
    }
}
