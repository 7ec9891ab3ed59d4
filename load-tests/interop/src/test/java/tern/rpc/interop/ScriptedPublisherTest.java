package tern.rpc.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

class ScriptedPublisherTest {

    private final Requests requests = new Requests();
    private final Answers answers = new Answers();
    private final HandTimer timer = new HandTimer();

    @Test
    void answersEachRequestWhenItComesAndEndsWithThem() {
        publish(Duration.ZERO);
        answers.request(10);

        requests.give("a");
        assertThat(answers.seen).containsExactly("a1", "a2");
        requests.give("b");
        requests.subscriber.onComplete();

        assertThat(answers.seen).containsExactly("a1", "a2", "b1", "b2", "last", "completed");
    }

    @Test
    void deliversOnlyRequestedAnswersAndRequestsOneMessageAtATime() {
        publish(Duration.ZERO);
        answers.request(1);

        requests.give("a");
        assertThat(answers.seen).containsExactly("a1");
        assertThat(requests.asked).isEqualTo(1);
        answers.request(2);

        assertThat(answers.seen).containsExactly("a1", "a2");
        assertThat(requests.asked).isEqualTo(2);
    }

    @Test
    void requestsMaySubscribeAfterAnswersWereRequested() {
        requests.later = true;
        publish(Duration.ZERO);
        answers.request(10);

        requests.accept();
        requests.give("a");

        assertThat(requests.asked).isEqualTo(2);
        assertThat(answers.seen).containsExactly("a1", "a2");
    }

    @Test
    void endIsDeliveredWithoutARequest() {
        publish(Duration.ZERO);
        answers.request(1);

        requests.subscriber.onComplete();

        assertThat(answers.seen).containsExactly("last", "completed");
    }

    @Test
    void anAnswerWaitsForItsDelay() {
        publish(Duration.ofMillis(7));
        answers.request(10);

        requests.give("a");
        assertThat(answers.seen).isEmpty();
        timer.runNext();
        assertThat(answers.seen).containsExactly("a1");
        timer.runNext();

        assertThat(answers.seen).containsExactly("a1", "a2");
        assertThat(timer.delays).containsExactly(Duration.ofMillis(7), Duration.ofMillis(7));
    }

    @Test
    void aScriptThatFailsEndsBothStreams() {
        publish(Duration.ZERO);
        answers.request(10);

        requests.give("bad");

        assertThat(answers.seen).containsExactly("NOT_FOUND: bad");
        assertThat(requests.cancelled).isTrue();
    }

    @Test
    void cancellingReachesTheRequestsAndNothingIsGivenAfterIt() {
        publish(Duration.ZERO);
        answers.request(10);

        answers.subscription.cancel();
        requests.give("a");

        assertThat(requests.cancelled).isTrue();
        assertThat(answers.seen).isEmpty();
    }

    @Test
    void requestsThatFailEndTheAnswers() {
        publish(Duration.ZERO);

        requests.subscriber.onError(new RpcException(StatusCode.CANCELLED, "gone"));

        assertThat(answers.seen).containsExactly("CANCELLED: gone");
    }

    private void publish(Duration delay) {
        new ScriptedPublisher<>(requests, new Twice(delay), timer).subscribe(answers);
    }

    private record Twice(Duration delay) implements Script<String, String> {

        @Override
        public List<Answer<String>> to(String request) {
            if (request.equals("bad")) {
                throw new RpcException(StatusCode.NOT_FOUND, request);
            }
            return List.of(Answer.of(request + "1", delay), Answer.of(request + "2", delay));
        }

        @Override
        public List<Answer<String>> atEnd() {
            return List.of(Answer.of("last", delay));
        }
    }

    private static final class Requests implements Flow.Publisher<String>, Flow.Subscription {

        private Flow.Subscriber<? super String> subscriber;
        private long asked;
        private boolean cancelled;
        private boolean later;

        void accept() {
            subscriber.onSubscribe(this);
        }

        void give(String request) {
            subscriber.onNext(request);
        }

        @Override
        public void subscribe(Flow.Subscriber<? super String> given) {
            subscriber = given;
            if (!later) {
                accept();
            }
        }

        @Override
        public void request(long count) {
            asked += count;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private static final class Answers implements Flow.Subscriber<String> {

        private final List<String> seen = new ArrayList<>();
        private Flow.Subscription subscription;

        void request(long count) {
            subscription.request(count);
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
        }

        @Override
        public void onNext(String answer) {
            seen.add(answer);
        }

        @Override
        public void onError(Throwable failure) {
            seen.add(failure.getMessage());
        }

        @Override
        public void onComplete() {
            seen.add("completed");
        }
    }

    private static final class HandTimer extends ScheduledThreadPoolExecutor {

        private final List<Duration> delays = new ArrayList<>();
        private final Queue<Runnable> tasks = new ArrayDeque<>();

        private HandTimer() {
            super(0);
        }

        @Override
        public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
            delays.add(Duration.of(delay, unit.toChronoUnit()));
            tasks.add(task);
            return null;
        }

        void runNext() {
            tasks.remove().run();
        }
    }
}
