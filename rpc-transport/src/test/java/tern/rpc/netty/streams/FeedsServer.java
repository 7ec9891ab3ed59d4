package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.netty.peer.EchoingSubscriber;
import tern.rpc.netty.peer.ReadingSubscriber;

/** Implements {@link Feeds} and counts the streams that have not ended. */
final class FeedsServer implements Feeds {

    /** The number of running streams, that is, streams whose end has not been reported to the service. */
    private final AtomicInteger running = new AtomicInteger();

    int running() {
        return running.get();
    }

    /**
     * Increments the number of running streams. The returned task decrements it once, even if the task runs repeatedly.
     */
    private Runnable begun() {
        running.incrementAndGet();
        AtomicBoolean over = new AtomicBoolean();
        return () -> {
            if (over.compareAndSet(false, true)) {
                running.decrementAndGet();
            }
        };
    }

    static RpcException planned() {
        return new RpcException(StatusCode.ABORTED, "as planned");
    }

    /** Returns the entries of a stream up to the planned failure. */
    private static Supplier<@Nullable Entry> entries(FeedPlan plan) {
        AtomicInteger next = new AtomicInteger();
        int count = plan.failAt() > 0 ? plan.failAt() : plan.messages();
        return () -> next.get() == count ? null : plan.entry(next.getAndIncrement());
    }

    private static @Nullable RpcException failure(FeedPlan plan) {
        return plan.failAt() > 0 ? planned() : null;
    }

    /**
     * Checks the order of the received requests and adds up the amounts in them. Only one thread at a time uses an
     * instance.
     */
    static final class Reader {
        private int entries;
        private long bytes;

        /** @throws RpcException if the order is wrong, or if the plan contains a failure at this point */
        void read(Entry entry) {
            if (FeedPlan.indexOf(entry.getAmount()) != entries) {
                throw new RpcException(
                        StatusCode.DATA_LOSS,
                        "request " + FeedPlan.indexOf(entry.getAmount()) + " came instead of " + entries);
            }
            entries++;
            bytes += entry.getAccount().length();
            if (entries == FeedPlan.failAtOf(entry.getAmount())) {
                throw planned();
            }
        }

        Receipt receipt() {
            return Receipt.newBuilder().setEntries(entries).setBalance(bytes).build();
        }
    }

    @Override
    public CompletionStage<Entry> echo(Entry entry) {
        return CompletableFuture.completedFuture(entry);
    }

    @Override
    public Flow.Publisher<Entry> publish(Period period) {
        FeedPlan plan = FeedPlan.of(period);
        return new Entries(entries(plan), failure(plan), begun());
    }

    @Override
    public Flux<Entry> flux(Period period) {
        FeedPlan plan = FeedPlan.of(period);
        Runnable over = begun();
        Flux<Entry> entries = Flux.range(0, plan.failAt() > 0 ? plan.failAt() : plan.messages())
                .map(plan::entry);
        return (plan.failAt() > 0 ? entries.concatWith(Mono.error(planned())) : entries).doFinally(end -> over.run());
    }

    @Override
    public void observe(Period period, StreamObserver<Entry> answers) {
        FeedPlan plan = FeedPlan.of(period);
        Runnable over = begun();
        Supplier<@Nullable Entry> entries = entries(plan);
        try {
            for (Entry entry = entries.get(); entry != null; entry = entries.get()) {
                answers.onNext(entry);
            }
            end(plan, answers);
        } finally {
            over.run();
        }
    }

    private static void end(FeedPlan plan, StreamObserver<Entry> answers) {
        if (plan.failAt() > 0) {
            answers.onError(planned());
        } else {
            answers.onCompleted();
        }
    }

    @Override
    public void observeReady(Period period, StreamObserver<Entry> answers) {
        FeedPlan plan = FeedPlan.of(period);
        Runnable over = begun();
        Supplier<@Nullable Entry> entries = entries(plan);
        Objects.requireNonNull(ServerContext.current()).onCancel(over);
        answers.onReady(() -> {
            while (answers.isReady()) {
                Entry entry = entries.get();
                if (entry == null) {
                    over.run();
                    end(plan, answers);
                    return;
                }
                answers.onNext(entry);
            }
        });
    }

    @Override
    public CompletionStage<Receipt> collect(Flow.Publisher<Entry> entries) {
        Runnable over = begun();
        Reader reader = new Reader();
        ReadingSubscriber<Entry, Receipt> reading =
                new ReadingSubscriber<>(reader::read, reader::receipt, over, () -> {});
        entries.subscribe(reading);
        return reading.answer();
    }

    @Override
    public Mono<Receipt> collectFlux(Flux<Entry> entries) {
        Runnable over = begun();
        Reader reader = new Reader();
        return entries.doOnNext(reader::read)
                .then(Mono.fromSupplier(reader::receipt))
                .doFinally(end -> over.run());
    }

    @Override
    public Flow.Publisher<Entry> exchange(Flow.Publisher<Entry> entries) {
        Runnable over = begun();
        Reader reader = new Reader();
        return answers -> entries.subscribe(new EchoingSubscriber<Entry>(answers, reader::read, over, () -> {}));
    }

    @Override
    public Flux<Entry> exchangeFlux(Flux<Entry> entries) {
        Runnable over = begun();
        Reader reader = new Reader();
        return entries.doOnNext(reader::read).doFinally(end -> over.run());
    }

    @Override
    public StreamObserver<Entry> exchangeObserved(StreamObserver<Entry> answers) {
        Runnable over = begun();
        Reader reader = new Reader();
        return new StreamObserver<>() {
            @Override
            public void onNext(Entry entry) {
                reader.read(entry);
                answers.onNext(entry);
            }

            @Override
            public void onError(Throwable failure) {
                over.run();
            }

            @Override
            public void onCompleted() {
                over.run();
                answers.onCompleted();
            }
        };
    }
}
