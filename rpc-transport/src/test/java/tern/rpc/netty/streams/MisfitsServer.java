package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;

final class MisfitsServer implements Misfits {

    private static final int SOME = 3;
    private static final Entry ENTRY = Entry.newBuilder().setAccount("x").build();
    private static final Entry LARGE =
            Entry.newBuilder().setAccount("x".repeat(9 << 20)).build(); // an entry larger than the maximum message size

    private static Mistake mistake() {
        String name = Objects.requireNonNull(ServerContext.current()).metadata().get(KIND);
        return Mistake.valueOf(Objects.requireNonNull(name));
    }

    private static IllegalStateException failure() {
        return new IllegalStateException("a mistake of the method");
    }

    private static Error error() {
        return new NoClassDefFoundError("a mistake of the method");
    }

    @SuppressWarnings("NullAway") // the tested mistake is a null value
    private static <T> T nothing() {
        return null;
    }

    /** Blocks the calling thread until the call has been cancelled. */
    private static void block() {
        CountDownLatch cancelled = new CountDownLatch(1);
        Objects.requireNonNull(ServerContext.current()).onCancel(cancelled::countDown);
        try {
            cancelled.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Flow.Publisher<Entry> publish(Period period) {
        return answers(mistake());
    }

    private static Flow.Publisher<Entry> answers(Mistake mistake) {
        return switch (mistake) {
            case THROWS_ERROR -> throw error();
            case RETURNS_NULL -> nothing();
            case THROWS_WHEN_SUBSCRIBED ->
                subscriber -> {
                    throw failure();
                };
            case THROWS_AFTER_SUBSCRIPTION ->
                subscriber -> {
                    subscriber.onSubscribe(new Wrong(subscriber, Mistake.NEVER_ENDS));
                    throw failure();
                };
            case NEVER_SUBSCRIBES -> subscriber -> {};
            case SUBSCRIBES_TWICE ->
                subscriber -> {
                    subscriber.onSubscribe(new Wrong(subscriber, Mistake.ENDS_TWICE));
                    subscriber.onSubscribe(new Wrong(subscriber, Mistake.NEVER_ENDS));
                };
            case ENDS_WITHOUT_SUBSCRIPTION -> Flow.Subscriber::onComplete;
            case FAILS_WITHOUT_SUBSCRIPTION -> subscriber -> subscriber.onError(failure());
            case SENDS_BEFORE_SUBSCRIPTION ->
                subscriber -> {
                    subscriber.onNext(ENTRY);
                    subscriber.onSubscribe(new Wrong(subscriber, Mistake.ENDS_TWICE));
                };
            case FAILS_WITH_NULL -> subscriber -> subscriber.onError(nothing());
            case THROWS_WHEN_ASKED,
                    THROWS_WHEN_CANCELLED,
                    SENDS_TOO_MUCH,
                    SENDS_TOO_LARGE,
                    SENDS_ON_MANY_THREADS,
                    IGNORES_CANCEL,
                    BLOCKS,
                    ENDS_TWICE,
                    SENDS_AFTER_ITS_END,
                    SENDS_NULL,
                    NEVER_ENDS -> subscriber -> subscriber.onSubscribe(new Wrong(subscriber, mistake));
            default -> throw failure();
        };
    }

    /** A subscription that breaks the rules of reactive streams. */
    private static final class Wrong implements Flow.Subscription {

        private final Flow.Subscriber<? super Entry> subscriber;
        private final Mistake mistake;
        private boolean begun;

        Wrong(Flow.Subscriber<? super Entry> subscriber, Mistake mistake) {
            this.subscriber = subscriber;
            this.mistake = mistake;
        }

        @Override
        public void request(long wanted) {
            if (begun || mistake == Mistake.NEVER_ENDS || mistake == Mistake.THROWS_WHEN_CANCELLED) {
                return;
            }
            begun = true;
            switch (mistake) {
                case SENDS_TOO_MUCH -> {
                    Unruly.send(5_000, () -> subscriber.onNext(ENTRY));
                    subscriber.onComplete();
                }
                case SENDS_TOO_LARGE -> subscriber.onNext(LARGE);
                case SENDS_ON_MANY_THREADS ->
                    Unruly.sendOnThreads(4, () -> subscriber.onNext(ENTRY), subscriber::onComplete);
                case IGNORES_CANCEL -> Unruly.sendOnThreads(1, () -> subscriber.onNext(ENTRY), subscriber::onComplete);
                case BLOCKS -> block();
                case ENDS_TWICE -> {
                    subscriber.onNext(ENTRY);
                    subscriber.onComplete();
                    subscriber.onError(failure());
                    subscriber.onComplete();
                }
                case SENDS_AFTER_ITS_END -> {
                    subscriber.onComplete();
                    subscriber.onNext(ENTRY);
                }
                case SENDS_NULL -> subscriber.onNext(nothing());
                default -> {
                    subscriber.onNext(ENTRY);
                    throw failure();
                }
            }
        }

        @Override
        public void cancel() {
            if (mistake == Mistake.THROWS_WHEN_CANCELLED) {
                throw failure();
            }
            // this subscription ignores the cancellation
        }
    }

    @Override
    public void observe(Period period, StreamObserver<Entry> answers) {
        observe(mistake(), answers);
    }

    private static void observe(Mistake mistake, StreamObserver<Entry> answers) {
        switch (mistake) {
            case NEVER_ENDS -> answers.onNext(ENTRY);
            case BLOCKS -> block();
            case THROWS_ERROR -> throw error();
            case ENDS_TWICE -> {
                answers.onCompleted();
                answers.onCompleted();
            }
            case SENDS_AFTER_ITS_END -> {
                answers.onCompleted();
                answers.onNext(ENTRY);
            }
            case SENDS_NULL -> {
                // the stream must still complete, because formats such as JSON can encode null
                answers.onNext(nothing());
                answers.onCompleted();
            }
            case SENDS_TOO_LARGE -> answers.onNext(LARGE);
            case FAILS_WITH_NULL -> answers.onError(nothing());
            case SENDS_ON_MANY_THREADS -> Unruly.sendOnThreads(4, () -> answers.onNext(ENTRY), answers::onCompleted);
            case IGNORES_CANCEL -> Unruly.sendOnThreads(1, () -> answers.onNext(ENTRY), answers::onCompleted);
            case SENDS_TOO_MUCH -> {
                Unruly.send(5_000, () -> answers.onNext(ENTRY));
                answers.onCompleted();
            }
            case THROWS_AFTER_SOME -> {
                Unruly.send(SOME, () -> answers.onNext(ENTRY));
                throw failure();
            }
            default -> throw failure();
        }
    }

    @Override
    public CompletionStage<Receipt> collect(Flow.Publisher<Entry> entries) {
        return switch (mistake()) {
            case THROWS_ERROR -> throw error();
            case RETURNS_NULL -> nothing();
            case ANSWERS_AT_ONCE -> CompletableFuture.completedFuture(Receipt.getDefaultInstance());
            case IGNORES_ITS_REQUESTS, NEVER_ENDS -> new CompletableFuture<>();
            case BLOCKS -> {
                block();
                yield new CompletableFuture<>();
            }
            case SENDS_NULL -> CompletableFuture.completedFuture(nothing());
            case THROWS_WHEN_SUBSCRIBED -> reading(entries, new Failing(0));
            case THROWS_AFTER_SOME -> reading(entries, new Failing(SOME));
            case SUBSCRIBES_TWICE -> {
                entries.subscribe(new Failing(SOME));
                yield reading(entries, new Failing(SOME));
            }
            default -> throw failure();
        };
    }

    private static CompletionStage<Receipt> reading(Flow.Publisher<Entry> entries, Failing reader) {
        entries.subscribe(reader);
        return new CompletableFuture<>();
    }

    /** Reads requests and throws an exception after some of them. */
    private static final class Failing implements Flow.Subscriber<Entry> {

        private int left;

        Failing(int left) {
            this.left = left;
        }

        @Override
        public void onSubscribe(Flow.Subscription requests) {
            if (left == 0) {
                throw failure();
            }
            requests.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Entry entry) {
            left--;
            if (left == 0) {
                throw failure();
            }
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

    @Override
    public Flow.Publisher<Entry> exchange(Flow.Publisher<Entry> entries) {
        Mistake mistake = mistake();
        return switch (mistake) {
            case IGNORES_ITS_REQUESTS ->
                subscriber -> subscriber.onSubscribe(new Wrong(subscriber, Mistake.NEVER_ENDS));
            case THROWS_AFTER_SOME -> {
                entries.subscribe(new Failing(SOME));
                yield answers(Mistake.NEVER_ENDS);
            }
            case ANSWERS_AT_ONCE -> answers(Mistake.ENDS_TWICE);
            default -> answers(mistake);
        };
    }

    @Override
    public StreamObserver<Entry> exchangeObserved(StreamObserver<Entry> answers) {
        Mistake mistake = mistake();
        return switch (mistake) {
            case RETURNS_NULL -> nothing();
            case ANSWERS_AT_ONCE -> {
                answers.onCompleted();
                yield new Ignoring();
            }
            case IGNORES_ITS_REQUESTS -> new Ignoring();
            case THROWS_AFTER_SOME ->
                new Ignoring() {
                    private int left = SOME;

                    @Override
                    public void onNext(Entry entry) {
                        left--;
                        if (left == 0) {
                            throw failure();
                        }
                    }
                };
            default -> {
                observe(mistake, answers);
                yield new Ignoring();
            }
        };
    }

    /** Ignores all requests and their end. */
    private static class Ignoring implements StreamObserver<Entry> {

        @Override
        public void onNext(Entry entry) {
            // ignores the request
        }

        @Override
        public void onError(Throwable failure) {
            // ignores the failure
        }

        @Override
        public void onCompleted() {
            // the end of the requests is ignored, so the call does not end
        }
    }
}
