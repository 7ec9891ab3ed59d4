package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.StreamObserver;

/** Streams in every Java shape; what is sent says what is to happen ({@link FeedPlan}). */
interface Feeds {

    Flow.Publisher<Entry> publish(Period period);

    Flux<Entry> flux(Period period);

    /** Sends without a look at isReady, and so waits. */
    void observe(Period period, StreamObserver<Entry> answers);

    /** Sends while isReady, and never waits. */
    void observeReady(Period period, StreamObserver<Entry> answers);

    CompletionStage<Receipt> collect(Flow.Publisher<Entry> entries);

    Mono<Receipt> collectFlux(Flux<Entry> entries);

    Flow.Publisher<Entry> exchange(Flow.Publisher<Entry> entries);

    Flux<Entry> exchangeFlux(Flux<Entry> entries);

    StreamObserver<Entry> exchangeObserved(StreamObserver<Entry> answers);
}
