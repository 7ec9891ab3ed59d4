package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.transport.StreamContract.bytes;
import static tern.rpc.transport.StreamContract.counting;
import static tern.rpc.transport.StreamContract.numbers;
import static tern.rpc.transport.TransportTest.await;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import tern.rpc.StreamObserver;

/** Tests the Java types of streams and the order of messages. */
interface StreamMessagesContract extends StreamContract {

    @Test
    default void publisherOfAnswersArrivesInOrder() throws Exception {
        service().publish = text -> Items.numbers(Integer.parseInt(text));
        Probe<String> answers = Probe.ofAll();

        proxy().publish("1000").subscribe(answers);

        assertThat(answers.rest()).isEqualTo(numbers(1_000));
        awaitNothingInFlight();
    }

    @Test
    default void observerGetsAnswersInOrder() throws Exception {
        service().observe = (text, answers) -> {
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
    default void answersMayBeSentAfterTheMethodReturnedFromAnyThread() throws Exception {
        AtomicReference<Thread> sender = new AtomicReference<>();
        service().observe = (text, answers) -> sender.set(new Thread(() -> {
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
    default void publisherOfRequestsIsReadToItsEnd() throws Exception {
        service().count = StreamContract::counting;
        service().countAndWait =
                values -> counting(values).toCompletableFuture().join();
        StreamService proxy = proxy();

        assertThat(proxy.count(Items.numbers(1_000)).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(1_000);
        assertThat(proxy.countAndWait(Items.numbers(3))).isEqualTo(3);
        awaitNothingInFlight();
    }

    @Test
    default void eventLoopDoesNotWaitForTheResultOfAStream() throws Exception {
        StreamService proxy = proxy();

        assertThat(TransportCallsContract.onAnEventLoop(() -> proxy.countAndWait(Items.numbers(1))))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a blocking call would block the event loop loop-1");
    }

    @Test
    default void publishersBothWaysRunSideBySide() throws Exception {
        service().transform = values -> values;
        Probe<String> answers = Probe.ofAll();

        proxy().transform(Items.numbers(1_000)).subscribe(answers);

        assertThat(answers.rest()).isEqualTo(numbers(1_000));
        awaitNothingInFlight();
    }

    @Test
    default void publisherAndObserverGoTogether() throws Exception {
        service().transformObserved = (values, answers) -> values.subscribe(new Flow.Subscriber<>() {
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
    default void observersBothWaysPlayPingPong() throws Exception {
        service().exchange = StreamContract::echoing;
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
    default void emptyStreamsEndWell() throws Exception {
        service().publish = text -> Items.of();
        service().observe = (text, answers) -> answers.onCompleted();
        service().count = StreamContract::counting;
        service().transform = values -> values;
        service().exchange = StreamContract::echoing;
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
    default void eachSubscriptionIsACallAndNoneWithoutOne() throws Exception {
        service().publish = text -> Items.numbers(2);
        Flow.Publisher<String> publisher = proxy().publish("");
        Probe<String> first = Probe.ofAll();
        Probe<String> second = Probe.ofAll();

        assertThat(service().contexts).isEmpty();
        publisher.subscribe(first);
        publisher.subscribe(second);

        assertThat(first.rest()).hasSize(2);
        assertThat(second.rest()).hasSize(2);
        assertThat(service().contexts).hasSize(2);
    }

    @Test
    default void subscriberGetsTheRequestedNumberOfItems() throws Exception {
        service().publish = text -> Items.numbers(100);
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
    default void publisherOfRequestsHasOneSubscriberOnTheServer() throws Exception {
        Probe<String> second = Probe.ofAll();
        service().count = values -> {
            CompletionStage<Integer> counted = counting(values);
            values.subscribe(second);
            return counted;
        };

        assertThat(proxy().count(Items.numbers(3)).toCompletableFuture().get(20, TimeUnit.SECONDS))
                .isEqualTo(3);

        assertThat(second.failure()).isInstanceOf(IllegalStateException.class).hasMessageContaining("one subscriber");
    }

    @Test
    default void messageOfAMegabyteArrivesInEitherDirection() throws Exception {
        service().exchange = StreamContract::echoing;
        byte[] large = new byte[1 << 20];
        large[large.length - 1] = 7;
        Probe<byte[]> answers = Probe.ofAll();
        StreamObserver<byte[]> requests = proxy().exchange(answers);

        requests.onNext(large);
        requests.onNext(large);
        requests.onCompleted();

        assertThat(answers.rest()).containsExactly(large, large);
    }
}
