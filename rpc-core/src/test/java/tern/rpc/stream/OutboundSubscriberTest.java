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
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.transport.Items;

@Timeout(60)
class OutboundSubscriberTest {

    private final FakeSink sink = new FakeSink();
    private final List<Runnable> later = new ArrayList<>();
    private final AtomicInteger wrapped = new AtomicInteger();
    private final OutboundSubscriber subscriber =
            new OutboundSubscriber(sink, new SerialExecutor(later::add), task -> () -> {
                wrapped.incrementAndGet();
                task.run();
                wrapped.decrementAndGet();
            });

    private void runLater() {
        List<Runnable> tasks = List.copyOf(later);
        later.clear();
        tasks.forEach(Runnable::run);
    }

    /** A subscription that records requests and checks that each request runs inside the wrapper. */
    private final class Subscription implements Flow.Subscription {
        final List<Long> requests = new ArrayList<>();
        int cancels;

        @Override
        public void request(long values) {
            assertThat(wrapped.get()).isPositive();
            requests.add(values);
        }

        @Override
        public void cancel() {
            cancels++;
        }
    }

    @Test
    void publisherThatGivesEachValueWithinItsRequestIsReadToItsEnd() {
        int values = 100_000;
        subscriber.onSubscribe(new Flow.Subscription() {
            private int given;

            @Override
            public void request(long wanted) {
                for (long i = 0; i < wanted && given < values; i++) {
                    subscriber.onNext(given++);
                    if (given == values) {
                        subscriber.onComplete();
                    }
                }
            }

            @Override
            public void cancel() {
                throw new AssertionError("nobody cancels");
            }
        });

        assertThat(sink.sent).hasSize(values);
        assertThat(sink.ends).hasValue(1);
        assertThat(sink.failures).isEmpty();
    }

    @Test
    void nullFromThePublisherEndsTheCall() {
        Subscription subscription = new Subscription();
        subscriber.onSubscribe(subscription);

        assertThatThrownBy(() -> subscriber.onNext(null)).isInstanceOf(NullPointerException.class);

        assertThat(sink.failures).singleElement().isInstanceOf(NullPointerException.class);
        assertThat(subscription.cancels).isEqualTo(1);
        assertThatThrownBy(() -> subscriber.onError(null)).isInstanceOf(NullPointerException.class);
        assertThat(sink.failures).hasSize(1);
    }

    @Test
    void moreValuesAreRequestedAtATimeWhileTheSinkKeepsUp() {
        Subscription subscription = new Subscription();

        subscriber.onSubscribe(subscription);
        assertThat(subscription.requests).containsExactly(1L);
        subscriber.onNext("a");
        assertThat(subscription.requests).containsExactly(1L, 2L);
        subscriber.onNext("b");
        assertThat(subscription.requests).as("three values are on their way").containsExactly(1L, 2L, 3L);
        for (int i = 2; i < 10_000; i++) {
            subscriber.onNext(i);
        }
        subscriber.onComplete();

        long requested =
                subscription.requests.stream().mapToLong(Long::longValue).sum();
        assertThat(requested - 10_000).as("values on their way").isBetween(16L, 32L);
        assertThat(subscription.requests.size()).isLessThan(10_000 / 10);
        assertThat(sink.sent).hasSize(10_000).startsWith("a", "b");
        assertThat(sink.ends).hasValue(1);
    }

    @Test
    void valuesThatComeWhileTheSinkIsNotReadyWaitAndOneIsRequestedNext() {
        Subscription subscription = new Subscription();
        subscriber.onSubscribe(subscription);
        for (int i = 0; i < 100; i++) {
            subscriber.onNext(i);
        }
        long outstanding =
                subscription.requests.stream().mapToLong(Long::longValue).sum() - 100;

        sink.ready = false;
        for (int i = 0; i < outstanding; i++) {
            subscriber.onNext("late");
        }
        assertThat(sink.sent).hasSize(100);
        assertThat(subscriber.isWaiting()).isTrue();
        subscription.requests.clear();
        subscriber.wake();
        runLater();
        assertThat(subscription.requests).isEmpty();
        sink.ready = true;
        subscriber.wake();
        runLater();

        assertThat(sink.sent).hasSize(100 + (int) outstanding).endsWith("late");
        assertThat(subscription.requests).containsExactly(1L);
        assertThat(subscriber.isWaiting()).isFalse();
    }

    @Test
    void sinkThatIsFullAfterEachValueGetsFewValuesInAdvance() {
        AtomicInteger given = new AtomicInteger();
        AtomicInteger mostWaiting = new AtomicInteger();
        sink.full = true;
        subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long wanted) {
                for (long i = 0; i < wanted; i++) {
                    subscriber.onNext(given.incrementAndGet());
                }
                mostWaiting.accumulateAndGet(given.get() - sink.sent.size(), Math::max);
            }

            @Override
            public void cancel() {
                throw new AssertionError("nobody cancels");
            }
        });

        for (int i = 0; i < 1_000; i++) {
            sink.ready = true;
            subscriber.wake();
            runLater();
        }

        assertThat(sink.sent.size()).isGreaterThanOrEqualTo(1_000);
        assertThat(mostWaiting.get()).isLessThanOrEqualTo(1);
    }

    @Test
    void endFollowsTheValuesThatWait() {
        for (Throwable failure : new Throwable[] {null, new IllegalStateException("on purpose")}) {
            FakeSink slow = new FakeSink();
            OutboundSubscriber tested = new OutboundSubscriber(slow, new SerialExecutor(later::add), task -> task);
            tested.onSubscribe(new Silent());
            slow.ready = false;
            tested.onNext("a");

            if (failure == null) {
                tested.onComplete();
            } else {
                tested.onError(failure);
            }
            assertThat(slow.ends).hasValue(0);
            assertThat(slow.failures).isEmpty();
            slow.ready = true;
            tested.wake();
            runLater();

            assertThat(slow.sent).containsExactly("a");
            assertThat(slow.ends).hasValue(failure == null ? 1 : 0);
            assertThat(slow.failures).hasSize(failure == null ? 0 : 1);
        }
    }

    @Test
    void endOfTheCallDropsTheValuesThatWait() {
        Subscription subscription = new Subscription();
        subscriber.onSubscribe(subscription);
        sink.ready = false;
        subscriber.onNext("a");

        sink.close();
        subscriber.over();
        sink.over = null;
        sink.ready = true;
        subscriber.wake();
        runLater();

        assertThat(sink.sent).isEmpty();
        assertThat(subscription.cancels).isEqualTo(1);
    }

    @Test
    void publisherThatIgnoresRequestsReachesTheLimitOfTheSink() {
        subscriber.onSubscribe(new Silent());
        sink.ready = false;

        for (int i = 0; i < 1_000; i++) {
            subscriber.onNext(i);
        }

        assertThat(sink.sent).hasSize(1_000);
        assertThat(sink.sent).startsWith(0, 1, 2);
    }

    /** A subscription that ignores requests. */
    private static final class Silent implements Flow.Subscription {
        @Override
        public void request(long values) {
            // Requests are ignored, because the test decides when to send values.
        }

        @Override
        public void cancel() {
            // Nothing to do, because the test sends no more values.
        }
    }

    @Test
    void nothingIsRequestedWhileTheSinkIsNotReady() {
        Subscription subscription = new Subscription();
        sink.ready = false;
        subscriber.onSubscribe(subscription);
        subscriber.wake();
        runLater();
        assertThat(subscription.requests).isEmpty();

        sink.ready = true;
        subscriber.wake();
        assertThat(subscription.requests).isEmpty();
        runLater();
        assertThat(subscription.requests).containsExactly(1L);

        subscriber.wake();
        runLater();
        assertThat(subscription.requests).containsExactly(1L);
    }

    @Test
    void publisherOfManyDoesNotDeepenTheStack() {
        Items.numbers(100_000).subscribe(cast());

        assertThat(sink.sent).hasSize(100_000);
        assertThat(sink.ends).hasValue(1);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private <T> Flow.Subscriber<T> cast() {
        return (Flow.Subscriber) subscriber;
    }

    @Test
    void endOfTheCallCancelsThePublisher() {
        Subscription subscription = new Subscription();
        subscriber.onSubscribe(subscription);

        sink.close();
        subscriber.over();
        assertThat(subscription.cancels).isZero();
        runLater();

        assertThat(subscription.cancels).isEqualTo(1);
        subscriber.onNext("late");
        subscriber.onError(new IllegalStateException("late"));
        subscriber.onComplete();
        assertThat(sink.sent).isEmpty();
        assertThat(sink.failures).isEmpty();
        assertThat(sink.ends).hasValue(0);
    }

    @Test
    void publisherThatComesAfterTheEndIsCancelled() {
        Subscription subscription = new Subscription();
        subscriber.over();
        runLater();

        subscriber.onSubscribe(subscription);

        assertThat(subscription.cancels).isEqualTo(1);
        assertThat(subscription.requests).isEmpty();
    }

    @Test
    void secondSubscriptionIsCancelled() {
        Subscription first = new Subscription();
        Subscription second = new Subscription();
        subscriber.onSubscribe(first);

        subscriber.onSubscribe(second);

        assertThat(second.cancels).isEqualTo(1);
        assertThat(first.cancels).isZero();
    }

    @Test
    void nullIsRefused() {
        assertThatThrownBy(() -> subscriber.onSubscribe(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> subscriber.onNext(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> subscriber.onError(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void valueThatCannotBeWrittenCancelsThePublisherAndFailsTheCall() {
        Subscription subscription = new Subscription();
        RpcException reason = new RpcException(StatusCode.INTERNAL, "cannot be written");
        subscriber.onSubscribe(subscription);
        sink.refuses = reason;

        subscriber.onNext("a");
        subscriber.onComplete();

        assertThat(subscription.cancels).isEqualTo(1);
        assertThat(sink.failures).containsExactly(reason);
        assertThat(sink.ends).hasValue(0);
    }

    @Test
    void failureOfThePublisherFailsTheCall() {
        IllegalStateException failure = new IllegalStateException("on purpose");
        subscriber.onSubscribe(new Subscription());

        subscriber.onError(failure);
        subscriber.onComplete();

        assertThat(sink.failures).containsExactly(failure);
        assertThat(sink.ends).hasValue(0);
    }

    @Test
    void subscriptionThatThrowsFailsTheCall() {
        IllegalStateException thrown = new IllegalStateException("on purpose");

        subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long values) {
                throw thrown;
            }

            @Override
            public void cancel() {
                // This subscription ignores cancellations.
            }
        });

        assertThat(sink.failures).containsExactly(thrown);
    }

    @Test
    void noValueIsLostWhenReadinessComesAndGoes() throws Exception {
        int values = 2_000;
        ExecutorService pool = Executors.newFixedThreadPool(3);
        OutboundSubscriber tested = new OutboundSubscriber(sink, new SerialExecutor(pool), task -> task);
        SubmissionPublisher<Object> publisher = new SubmissionPublisher<>(pool, 64);
        publisher.subscribe(tested);
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService flicker = Executors.newSingleThreadExecutor();
        CountDownLatch flickering = new CountDownLatch(1);
        Future<?> readiness = flicker.submit(() -> {
            while (!done.get()) {
                sink.ready = false;
                flickering.countDown();
                Thread.yield();
                sink.ready = true;
                tested.wake();
            }
        });
        assertThat(flickering.await(20, TimeUnit.SECONDS)).isTrue();

        for (int i = 0; i < values; i++) {
            publisher.submit(i);
        }
        publisher.close();
        while (sink.ends.get() == 0) {
            Thread.yield();
        }
        done.set(true);
        readiness.get(20, TimeUnit.SECONDS);

        assertThat(sink.sent).hasSize(values);
        for (int i = 0; i < values; i++) {
            assertThat(sink.sent.get(i)).isEqualTo(i);
        }
        flicker.shutdown();
        pool.shutdown();
    }
}
