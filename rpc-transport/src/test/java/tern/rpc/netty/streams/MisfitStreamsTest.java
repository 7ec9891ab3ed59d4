package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
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
import tern.rpc.netty.streams.WebCaller.Form;

/**
 * Tests streams whose methods or callers use them incorrectly. Each of these streams must end and release its
 * resources, and must not disturb the other streams of its connection.
 */
@Timeout(300)
class MisfitStreamsTest {

    /** The deadline of calls that do not end otherwise. Other calls have no deadline. */
    private static final Duration LIMIT = Duration.ofSeconds(1);

    private static final int ROUNDS = 3;

    /** The mistakes that any kind of method can make and after which Tern does not end the call automatically. */
    private static final Set<Mistake> ENDLESS = EnumSet.of(Mistake.NEVER_ENDS, Mistake.BLOCKS);

    /**
     * The mistakes that only a method with a publisher can make and after which Tern does not end the call
     * automatically.
     */
    private static final Set<Mistake> ENDLESS_PUBLISHERS =
            EnumSet.of(Mistake.NEVER_SUBSCRIBES, Mistake.THROWS_WHEN_CANCELLED);

    private enum Condition {
        USUAL,
        TLS,
        ONE_LOOP,
        FOUR_WORKERS,
        VIRTUAL_THREADS,
        IN_MEMORY,
        IN_MEMORY_WITH_FOUR_WORKERS;

        FeedsSettings settings() {
            FeedsSettings usual = FeedsSettings.usual().withStreamWait(Duration.ofSeconds(60));
            return switch (this) {
                case USUAL, IN_MEMORY -> usual;
                case TLS -> usual.withTls();
                case ONE_LOOP -> usual.withLoops(1);
                case FOUR_WORKERS, IN_MEMORY_WITH_FOUR_WORKERS ->
                    usual.withWorkers(4).withLoops(1);
                case VIRTUAL_THREADS -> usual.withVirtualThreads();
            };
        }

        TernCaller caller(FeedsSides sides) {
            return name().startsWith("IN_MEMORY") ? sides.memoryCaller() : sides.ternCaller(sides.port());
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
                TernCaller caller = condition.caller(sides)) {
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

    /**
     * All clients except Tern's. These clients do not check deadlines themselves, so the server must end the endless
     * streams.
     */
    private enum Client {
        GRPC_CLIENT,
        GRPC,
        GRPC_WEB,
        CONNECT,
        EVENTS;

        FeedCaller connect(FeedsSides sides) {
            return this == GRPC_CLIENT ? sides.grpcCaller(1 << 20) : sides.webCaller(Form.valueOf(name()), 65_535);
        }

        List<Way> ways() {
            return this == EVENTS ? List.of(Way.DOWN) : List.of(Way.values());
        }
    }

    @ParameterizedTest
    @EnumSource
    void mistakesOfMethodsReachOtherClientsAsAnEnd(Client client) throws Exception {
        try (FeedsSides sides = new FeedsSides(Condition.USUAL.settings());
                FeedCaller caller = client.connect(sides)) {
            List<FeedPlan> plans = new ArrayList<>(goodPlans().stream()
                    .filter(plan -> client.ways().contains(plan.way()))
                    .toList());
            for (Mistake mistake : Mistake.values()) {
                for (Way way : client.ways()) {
                    for (int id = 0; id < 2; id++) {
                        plans.add(plan(way, id, mistake));
                    }
                }
            }

            sides.run(caller, plans);
        }
    }

    private static FeedPlan plan(Way way, int id, Mistake mistake) {
        boolean publishes = way != Way.UP && id % 2 == 0;
        boolean endless = ENDLESS.contains(mistake)
                || (mistake == Mistake.IGNORES_ITS_REQUESTS && way != Way.DOWN)
                || (publishes && ENDLESS_PUBLISHERS.contains(mistake));
        FeedPlan plan = FeedPlan.of(way, id, 20, 8 << 10).mistaken(mistake);
        return endless ? plan.within(LIMIT) : plan;
    }

    private static void begin(Misfits service, Mistake mistake, List<Ending> endings) {
        Period period = Period.getDefaultInstance();
        Ending published = ending("publish", mistake, endings, ENDLESS_PUBLISHERS.contains(mistake));
        published.on(service).publish(period).subscribe(published);
        Ending observed = ending("observe", mistake, endings, false);
        observed.on(service).observe(period, observed);
        boolean ignores = mistake == Mistake.IGNORES_ITS_REQUESTS;
        Ending collected = ending("collect", mistake, endings, ignores);
        collected.on(service).collect(requests()).whenComplete((receipt, failure) -> collected.onCompleted());
        Ending exchanged = ending("exchange", mistake, endings, ignores || ENDLESS_PUBLISHERS.contains(mistake));
        exchanged.on(service).exchange(requests()).subscribe(exchanged);
        Ending both = ending("exchangeObserved", mistake, endings, ignores);
        StreamObserver<Entry> requests = both.on(service).exchangeObserved(both);
        requests.onReady(() -> write(requests));
    }

    private static void write(StreamObserver<Entry> requests) {
        try {
            for (int i = 0; i < 5; i++) {
                requests.onNext(Entry.getDefaultInstance());
            }
            requests.onCompleted();
        } catch (RuntimeException e) {
            // the call has ended, and the receiver of the answers is notified of the reason, so the exception is
            // ignored here
        }
    }

    private static Flow.Publisher<Entry> requests() {
        Iterator<Integer> left = IntStream.range(0, 20).iterator();
        return new Entries(() -> left.hasNext() ? entry(left.next()) : null, null, () -> {});
    }

    private static Entry entry(int index) {
        return Entry.newBuilder().setAmount(index).build();
    }

    private enum CallersMistake {
        SUBSCRIBER_THROWS_AT_ONCE,
        SUBSCRIBER_ASKS_FOR_NONE,
        SUBSCRIBER_ASKS_FOR_LESS_THAN_NONE,
        SUBSCRIBER_NEVER_ASKS,
        SUBSCRIBER_THROWS_LATER,
        OBSERVER_THROWS,
        SUBSCRIBER_CANCELS_TWICE,
        SUBSCRIBER_CANCELS_AND_THROWS,
        REQUESTS_THROW_WHEN_SUBSCRIBED,
        REQUESTS_WITHOUT_SUBSCRIPTION,
        REQUESTS_ON_MANY_THREADS,
        REQUESTS_IGNORE_DEMAND,
        REQUESTS_FAIL_WITH_NULL,
        REQUESTS_THROW_LATER,
        REQUESTS_CONTAIN_NULL,
        REQUESTS_NEVER_BEGIN,
        REQUESTS_END_TWICE
    }

    @ParameterizedTest
    @EnumSource
    void mistakesOfCallersEndTheirStreamsAlone(Condition condition) throws Exception {
        try (FeedsSides sides = new FeedsSides(condition.settings());
                TernCaller caller = condition.caller(sides)) {
            Feeds brief = CallOptions.none().timeout(LIMIT).on(caller.feeds());
            for (int round = 0; round < ROUNDS; round++) {
                for (CallersMistake mistake : CallersMistake.values()) {
                    boolean endless = mistake == CallersMistake.SUBSCRIBER_NEVER_ASKS
                            || mistake == CallersMistake.REQUESTS_NEVER_BEGIN;
                    begin(endless ? brief : caller.feeds(), mistake);
                }
            }

            sides.run(caller, goodPlans()); // The method run() also waits until no stream is running.
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
                    REQUESTS_WITHOUT_SUBSCRIPTION,
                    REQUESTS_ON_MANY_THREADS,
                    REQUESTS_IGNORE_DEMAND,
                    REQUESTS_FAIL_WITH_NULL,
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
            // subscribe() may pass on an exception that the subscriber throws
        }
    }

    private static Flow.Publisher<Entry> wrongRequests(CallersMistake mistake) {
        return switch (mistake) {
            case REQUESTS_THROW_WHEN_SUBSCRIBED ->
                subscriber -> {
                    throw failure();
                };
            case REQUESTS_WITHOUT_SUBSCRIPTION -> Flow.Subscriber::onComplete;
            case REQUESTS_FAIL_WITH_NULL -> subscriber -> subscriber.onError(nothing());
            default -> subscriber -> subscriber.onSubscribe(new WrongSubscription(subscriber, mistake));
        };
    }

    /**
     * A subscription with mistakes. The subscription ignores the cancellation, because publishers are allowed to send
     * some requests after a cancellation.
     */
    private static final class WrongSubscription implements Flow.Subscription {

        private final Flow.Subscriber<? super Entry> subscriber;
        private final CallersMistake mistake;
        private int sent;

        WrongSubscription(Flow.Subscriber<? super Entry> subscriber, CallersMistake mistake) {
            this.subscriber = subscriber;
            this.mistake = mistake;
        }

        @Override
        public void request(long wanted) {
            if (mistake == CallersMistake.REQUESTS_NEVER_BEGIN || sent > 3) {
                return;
            }
            for (long i = 0; i < wanted && sent < 3; i++) {
                subscriber.onNext(entry(sent++));
            }
            sent = 4;
            switch (mistake) {
                case REQUESTS_THROW_LATER -> throw failure();
                case REQUESTS_CONTAIN_NULL -> subscriber.onNext(nothing());
                case REQUESTS_ON_MANY_THREADS ->
                    Unruly.sendOnThreads(4, () -> subscriber.onNext(entry(0)), subscriber::onComplete);
                case REQUESTS_IGNORE_DEMAND -> {
                    Unruly.send(5_000, () -> subscriber.onNext(entry(0)));
                    subscriber.onComplete();
                }
                default -> {
                    subscriber.onComplete();
                    subscriber.onError(failure());
                }
            }
        }

        @Override
        public void cancel() {
            // this subscription ignores the cancellation
        }
    }

    @SuppressWarnings("NullAway") // the tested mistake is a null value
    private static <T> T nothing() {
        return null;
    }

    private static IllegalStateException failure() {
        return new IllegalStateException("a mistake of the caller");
    }

    /** A subscriber that breaks the rules of reactive streams. */
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
                case SUBSCRIBER_CANCELS_AND_THROWS -> {
                    answers.cancel();
                    throw failure();
                }
                case SUBSCRIBER_THROWS_LATER -> answers.request(Long.MAX_VALUE);
                default -> {
                    // the subscriber never requests an answer
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

    /** An observer whose methods always throw an exception. */
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

    private static Ending ending(String method, Mistake mistake, List<Ending> all, boolean endless) {
        Ending ending = new Ending(method, mistake, endless || ENDLESS.contains(mistake));
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

    /** Requests all answers, ignores them, and records the end. */
    private static final class Ending implements Flow.Subscriber<Entry>, StreamObserver<Entry> {

        private final String name;
        private final CallOptions options;
        private final CompletableFuture<@Nullable Void> over = new CompletableFuture<>();

        Ending(String method, Mistake mistake, boolean endless) {
            this.name = method + " " + mistake;
            CallOptions usual = CallOptions.none().header(Misfits.KIND, mistake.name());
            this.options = endless ? usual.timeout(LIMIT) : usual;
        }

        Ending(String name) {
            this.name = name;
            this.options = CallOptions.none();
        }

        Misfits on(Misfits service) {
            return options.on(service);
        }

        @Override
        public void onSubscribe(Flow.Subscription answers) {
            answers.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Entry entry) {
            // messages are ignored, because the test checks only the end of the stream
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
