package tern.rpc.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.Probe;

/** Tests prefetching: a publisher requests messages from the transport before its subscriber requests them. */
@Timeout(60)
class InboundDemandTest {

    private final FakeSource source = new FakeSource();
    private final InboundPublisher publisher =
            new InboundPublisher("Service/method", new SerialExecutor(Runnable::run), source);

    private FakeMessage bring(@Nullable Object value) {
        FakeMessage message = new FakeMessage(value);
        publisher.message(message);
        return message;
    }

    @Test
    void unboundedRequestIsServedInSmallSteps() throws Exception {
        Probe<Object> probe = Probe.ofAll();
        publisher.subscribe(probe);
        assertThat(source.requests).containsExactly(16);

        for (int i = 0; i < 7; i++) {
            bring("x");
        }
        assertThat(source.requests).containsExactly(16);
        bring("x");
        // The subscriber is faster than the source, so the publisher doubles the number of requested messages.
        assertThat(source.requests).containsExactly(16, 32 - 8);
        for (int i = 0; i < 100_000; i++) {
            bring("x");
        }

        int asked = source.requests.stream().mapToInt(Integer::intValue).sum();
        assertThat(asked - probe.count()).as("messages on their way").isBetween(128, 256);
    }

    @Test
    void noMoreMessagesAreRequestedForASlowSubscriber() throws Exception {
        AtomicInteger came = new AtomicInteger(1);
        Probe<Object> probe = Probe.ofAll(value -> {
            int asked = source.requests.stream().mapToInt(Integer::intValue).sum();
            assertThat(asked - came.get()).isLessThanOrEqualTo(16);
            if (came.get() < 10_000) {
                came.incrementAndGet();
                // Each message arrives before the previous one is delivered, so one message is always queued.
                bring("x");
            }
        });
        publisher.subscribe(probe);

        bring("x");

        assertThat(probe.count()).isEqualTo(10_000);
        assertThat(source.failures).isEmpty();
    }

    @Test
    void messagesOfASubscriberThatRequestsOneAreRequestedInAdvance() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        assertThat(source.requests).isEmpty();

        probe.request(1);
        assertThat(source.requests).containsExactly(16);
        FakeMessage first = bring("a");
        FakeMessage second = bring("b");

        assertThat(first.decoded).hasValue(1);
        assertThat(second.decoded).as("decoded before it is requested").hasValue(0);
        assertThat(probe.count()).isEqualTo(1);
        probe.request(1);
        assertThat(second.decoded).hasValue(1);
        assertThat(probe.count()).isEqualTo(2);
    }

    @Test
    void subscriberThatRequestsOneAtATimeNeedsFewRequestsToTheTransport() {
        int messages = 20_000;
        OneByOne subscriber = new OneByOne();
        publisher.subscribe(subscriber);

        for (int i = 0; i < messages; i++) {
            bring(i);
        }
        publisher.complete();

        assertThat(subscriber.values).hasSize(messages);
        assertThat(subscriber.ended).isTrue();
        assertThat(source.requests.size()).isLessThan(messages / 100);
        int asked = source.requests.stream().mapToInt(Integer::intValue).sum();
        assertThat(asked - messages).as("messages on their way").isBetween(0, 256);
    }

    /** Requests the next value when the previous value has arrived, like a chain of Reactor's operators. */
    private static final class OneByOne implements Flow.Subscriber<Object> {
        final List<Object> values = new ArrayList<>();
        boolean ended;
        private Flow.@Nullable Subscription subscription;

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            given.request(1);
        }

        @Override
        public void onNext(Object value) {
            values.add(value);
            subscription.request(1);
        }

        @Override
        public void onError(Throwable failure) {
            throw new AssertionError(failure);
        }

        @Override
        public void onComplete() {
            ended = true;
        }
    }

    @Test
    void subscriberThatStopsRequestingStopsTheTransport() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        probe.request(1);
        for (int i = 0; i < 16; i++) {
            publisher.message(new FakeMessage(i, MessageStream.ALLOWED_BYTES / 16));
        }

        assertThat(probe.count()).isEqualTo(1);
        assertThat(source.requests).containsExactly(16);
        for (int i = 0; i < 7; i++) {
            probe.request(1);
        }

        // After half of the 16 messages, the publisher requests 8 more. It does not request a larger number, because
        // messages were waiting for the subscriber.
        assertThat(source.requests).containsExactly(16, 8);
    }

    @Test
    void bytesInAdvanceAreRenewedOnlyAsTheSubscriberTakesThem() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        probe.request(1);
        publisher.message(new FakeMessage("a", 1));
        publisher.message(new FakeMessage("b", MessageStream.ALLOWED_BYTES));
        assertThat(source.requests).containsExactly(16);

        probe.request(1);

        assertThat(source.requests).containsExactly(16, 0);
    }

    @Test
    void endFollowsTheMessagesInAdvance() throws Exception {
        for (Throwable failure : new Throwable[] {null, new IllegalStateException("on purpose")}) {
            InboundPublisher tested = new InboundPublisher("m", new SerialExecutor(Runnable::run), source);
            Probe<Object> probe = Probe.onDemand();
            tested.subscribe(probe);
            probe.request(1);
            List<FakeMessage> messages = List.of(new FakeMessage("a"), new FakeMessage("b"), new FakeMessage("c"));
            messages.forEach(tested::message);

            if (failure == null) {
                tested.complete();
            } else {
                tested.fail(failure);
            }

            assertThat(probe.count()).isEqualTo(1);
            assertThat(probe.ends()).isZero();
            assertThat(messages)
                    .as("no buffer stays after the end")
                    .allSatisfy(message -> assertThat(message.decoded).hasValue(1));
            probe.request(1);
            assertThat(probe.count()).isEqualTo(2);
            assertThat(probe.ends()).isZero();
            probe.request(1);
            assertThat(probe.next()).isEqualTo("a");
            assertThat(probe.next()).isEqualTo("b");
            assertThat(probe.next()).isEqualTo("c");
            if (failure == null) {
                assertThat(probe.rest()).isEmpty();
            } else {
                assertThat(probe.failure()).isSameAs(failure);
            }
        }
    }

    @Test
    void failureOfTheCallOvertakesMessagesThatAreNotRequested() throws Exception {
        for (boolean halfClosed : new boolean[] {false, true}) {
            InboundPublisher tested = new InboundPublisher("m", new SerialExecutor(Runnable::run), source);
            Probe<Object> probe = Probe.onDemand();
            tested.subscribe(probe);
            probe.request(1);
            List<FakeMessage> messages = List.of(new FakeMessage("a"), new FakeMessage("b"), new FakeMessage("c"));
            messages.forEach(tested::message);
            if (halfClosed) {
                tested.complete();
            }
            RpcException reason = new RpcException(StatusCode.CANCELLED, "gone");

            tested.failEarly(reason);

            assertThat(probe.next()).isEqualTo("a");
            assertThat(probe.failure()).isSameAs(reason);
            assertThat(messages)
                    .allSatisfy(message -> assertThat(message.decoded.get() + message.discarded.get())
                            .isEqualTo(1));
        }
    }

    @Test
    void messageInAdvanceThatCannotBeReadEndsTheStreamAfterTheOthers() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        probe.request(1);
        RpcException reason = new RpcException(StatusCode.INTERNAL, "garbage");
        bring("a");
        bring("b");
        bring(reason);
        FakeMessage unread = bring("d");
        publisher.complete();

        assertThat(probe.next()).isEqualTo("a");
        assertThat(probe.ends()).isZero();
        probe.request(5);

        assertThat(probe.next()).isEqualTo("b");
        assertThat(probe.failure()).isSameAs(reason);
        assertThat(source.failures).containsExactly(reason);
        assertThat(unread.discarded).hasValue(1);
    }

    @Test
    void cancelDiscardsTheMessagesInAdvance() throws Exception {
        Probe<Object> probe = Probe.onDemand();
        publisher.subscribe(probe);
        probe.request(1);
        bring("a");
        List<FakeMessage> messages = List.of(bring("b"), bring("c"));

        probe.cancel();

        assertThat(messages).allSatisfy(message -> {
            assertThat(message.discarded).hasValue(1);
            assertThat(message.decoded).hasValue(0);
        });
        assertThat(probe.ends()).isZero();
    }
}
