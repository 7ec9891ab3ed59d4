package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.CallOptions;
import tern.rpc.StreamObserver;
import tern.rpc.netty.streams.FeedPlan.Reading;
import tern.rpc.netty.streams.FeedPlan.Way;
import tern.rpc.netty.streams.Misfits.Mistake;

/**
 * Tests that streams whose methods or callers break the rules end, leave nothing behind, and do not disturb the other
 * streams of their connection.
 */
@Timeout(300)
class MisfitStreamsTest {

    /** The time limit of calls that only a deadline can end. */
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private static final int ROUNDS = 3;

    private enum Condition {
        USUAL,
        TLS,
        ONE_LOOP,
        FOUR_WORKERS;

        FeedsSettings settings() {
            FeedsSettings usual = FeedsSettings.usual().withStreamWait(Duration.ofSeconds(60));
            return switch (this) {
                case USUAL -> usual;
                case TLS -> usual.withTls();
                case ONE_LOOP -> usual.withLoops(1);
                case FOUR_WORKERS -> usual.withWorkers(4).withLoops(1);
            };
        }
    }

    private static List<FeedPlan> goodPlans() {
        List<Way> ways = List.of(Way.values());
        return IntStream.range(0, 24)
                .mapToObj(id -> FeedPlan.of(ways.get(id % ways.size()), id / ways.size(), 20, 8 << 10)
                        .reading(id % 5 == 3 ? Reading.ONE_BY_ONE : Reading.EAGER))
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void mistakesOfMethodsEndTheirStreamsAlone(Condition condition) throws Exception {
        try (FeedsSides sides = new FeedsSides(condition.settings());
                TernCaller caller = sides.ternCaller(sides.port())) {
            List<Ending> endings = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                for (Mistake mistake : Mistake.values()) {
                    begin(caller.misfits(), mistake, endings);
                }
            }

            sides.run(caller, goodPlans());

            awaitAll(endings);
        }
    }

    private static void begin(Misfits service, Mistake mistake, List<Ending> endings) {
        Misfits misfits = CallOptions.none()
                .timeout(LIMIT)
                .header(Misfits.KIND, mistake.name())
                .on(service);
        Period period = Period.getDefaultInstance();
        misfits.publish(period).subscribe(ending("publish", mistake, endings));
        misfits.observe(period, ending("observe", mistake, endings));
        Ending collected = ending("collect", mistake, endings);
        misfits.collect(requests()).whenComplete((receipt, failure) -> collected.over.complete(null));
        misfits.exchange(requests()).subscribe(ending("exchange", mistake, endings));
        StreamObserver<Entry> requests = misfits.exchangeObserved(ending("exchangeObserved", mistake, endings));
        requests.onReady(() -> write(requests));
    }

    private static void write(StreamObserver<Entry> requests) {
        try {
            for (int i = 0; i < 5; i++) {
                requests.onNext(Entry.getDefaultInstance());
            }
            requests.onCompleted();
        } catch (RuntimeException e) {
            // the call has ended, and the receiver of the answers is notified
        }
    }

    private static Flow.Publisher<Entry> requests() {
        Iterator<Integer> left = IntStream.range(0, 20).iterator();
        return new Entries(() -> left.hasNext() ? entry(left.next()) : null, null, () -> {});
    }

    private static Entry entry(int index) {
        return Entry.newBuilder().setAmount(index).build();
    }

    /** The mistakes of callers. */
    private enum CallersMistake {
        SUBSCRIBER_THROWS_AT_ONCE,
        SUBSCRIBER_ASKS_FOR_NONE,
        SUBSCRIBER_ASKS_FOR_LESS_THAN_NONE,
        SUBSCRIBER_NEVER_ASKS,
        SUBSCRIBER_THROWS_LATER,
        OBSERVER_THROWS,
        SUBSCRIBER_CANCELS_TWICE,
        REQUESTS_THROW_WHEN_SUBSCRIBED,
        REQUESTS_THROW_LATER,
        REQUESTS_CONTAIN_NULL,
        REQUESTS_NEVER_BEGIN,
        REQUESTS_END_TWICE
    }

    @ParameterizedTest
    @EnumSource
    void mistakesOfCallersEndTheirStreamsAlone(Condition condition) throws Exception {
        try (FeedsSides sides = new FeedsSides(condition.settings());
                TernCaller caller = sides.ternCaller(sides.port())) {
            Feeds feeds = CallOptions.none().timeout(LIMIT).on(caller.feeds());
            for (int round = 0; round < ROUNDS; round++) {
                for (CallersMistake mistake : CallersMistake.values()) {
                    begin(feeds, mistake);
                }
            }

            sides.run(caller, goodPlans()); // also checks that no stream is left
        }
    }

    private static void begin(Feeds feeds, CallersMistake mistake) {
        Period period = FeedPlan.of(Way.DOWN, 0, 20, 8 << 10).period();
        switch (mistake) {
            case OBSERVER_THROWS -> {
                feeds.observe(period, new Throwing());
                feeds.observeReady(period, new Throwing());
                StreamObserver<Entry> requests = feeds.exchangeObserved(new Throwing());
                requests.onReady(() -> write(requests));
            }
            case REQUESTS_THROW_WHEN_SUBSCRIBED,
                    REQUESTS_THROW_LATER,
                    REQUESTS_CONTAIN_NULL,
                    REQUESTS_NEVER_BEGIN,
                    REQUESTS_END_TWICE -> {
                feeds.collect(wrongRequests(mistake));
                feeds.exchange(wrongRequests(mistake)).subscribe(new Ending(mistake.name()));
            }
            default -> {
                subscribe(feeds.publish(period), mistake);
                subscribe(feeds.exchange(requests()), mistake);
            }
        }
    }

    private static void subscribe(Flow.Publisher<Entry> answers, CallersMistake mistake) {
        try {
            answers.subscribe(new WrongSubscriber(mistake));
        } catch (IllegalStateException expected) {
            // a subscriber that throws may see its own exception
        }
    }

    private static Flow.Publisher<Entry> wrongRequests(CallersMistake mistake) {
        return subscriber -> {
            if (mistake == CallersMistake.REQUESTS_THROW_WHEN_SUBSCRIBED) {
                throw failure();
            }
            subscriber.onSubscribe(new Flow.Subscription() {
                private int sent;

                @Override
                public void request(long wanted) {
                    if (mistake == CallersMistake.REQUESTS_NEVER_BEGIN || sent > 3) {
                        return;
                    }
                    for (long i = 0; i < wanted && sent < 3; i++) {
                        subscriber.onNext(entry(sent++));
                    }
                    sent++;
                    if (mistake == CallersMistake.REQUESTS_THROW_LATER) {
                        throw failure();
                    } else if (mistake == CallersMistake.REQUESTS_CONTAIN_NULL) {
                        subscriber.onNext(nothing());
                    } else {
                        subscriber.onComplete();
                        subscriber.onError(failure());
                    }
                }

                @Override
                public void cancel() {
                    // the publisher does not stop, which is allowed
                }
            });
        };
    }

    @SuppressWarnings("NullAway") // null is the mistake
    private static <T> T nothing() {
        return null;
    }

    private static IllegalStateException failure() {
        return new IllegalStateException("a mistake of the caller");
    }

    /** A subscriber that breaks the rules. */
    private record WrongSubscriber(CallersMistake mistake) implements Flow.Subscriber<Entry> {

        @Override
        public void onSubscribe(Flow.Subscription answers) {
            switch (mistake) {
                case SUBSCRIBER_THROWS_AT_ONCE -> throw failure();
                case SUBSCRIBER_ASKS_FOR_NONE -> answers.request(0);
                case SUBSCRIBER_ASKS_FOR_LESS_THAN_NONE -> answers.request(-1);
                case SUBSCRIBER_CANCELS_TWICE -> {
                    answers.request(1);
                    answers.cancel();
                    answers.cancel();
                    answers.request(1);
                }
                case SUBSCRIBER_THROWS_LATER -> answers.request(Long.MAX_VALUE);
                default -> {
                    // the subscriber never asks for an answer
                }
            }
        }

        @Override
        public void onNext(Entry entry) {
            throw failure();
        }

        @Override
        public void onError(Throwable failure) {
            throw failure();
        }

        @Override
        public void onComplete() {
            throw failure();
        }
    }

    /** An observer that cannot take any answer. */
    private static final class Throwing implements StreamObserver<Entry> {

        @Override
        public void onNext(Entry entry) {
            throw failure();
        }

        @Override
        public void onError(Throwable failure) {
            throw failure();
        }

        @Override
        public void onCompleted() {
            throw failure();
        }
    }

    private static Ending ending(String method, Mistake mistake, List<Ending> all) {
        Ending ending = new Ending(method + " " + mistake);
        all.add(ending);
        return ending;
    }

    private static void awaitAll(List<Ending> endings) throws Exception {
        for (Ending ending : endings) {
            try {
                ending.over.get(60, TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                throw new AssertionError(ending.name + " hangs", e);
            }
        }
    }

    /** Takes all answers, and records the end. */
    private static final class Ending implements Flow.Subscriber<Entry>, StreamObserver<Entry> {

        private final String name;
        private final CompletableFuture<@Nullable Void> over = new CompletableFuture<>();

        Ending(String name) {
            this.name = name;
        }

        @Override
        public void onSubscribe(Flow.Subscription answers) {
            answers.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Entry entry) {
            // answers do not matter
        }

        @Override
        public void onError(Throwable failure) {
            over.complete(null);
        }

        @Override
        public void onComplete() {
            over.complete(null);
        }

        @Override
        public void onCompleted() {
            over.complete(null);
        }
    }
}
