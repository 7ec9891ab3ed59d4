package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tern.rpc.StreamObserver;

/** Streaming methods with every supported Java signature. The messages contain the plan ({@link FeedPlan}). */
interface Feeds {

    /** Returns its argument. This is the only unary method. */
    CompletionStage<Entry> echo(Entry entry);

    Flow.Publisher<Entry> publish(Period period);

    Flux<Entry> flux(Period period);

    /** Sends answers without checking {@code isReady}, and therefore can block. */
    void observe(Period period, StreamObserver<Entry> answers);

    /** Sends answers while {@code isReady} returns true, and never blocks. */
    void observeReady(Period period, StreamObserver<Entry> answers);

    CompletionStage<Receipt> collect(Flow.Publisher<Entry> entries);

    Mono<Receipt> collectFlux(Flux<Entry> entries);

    Flow.Publisher<Entry> exchange(Flow.Publisher<Entry> entries);

    Flux<Entry> exchangeFlux(Flux<Entry> entries);

    StreamObserver<Entry> exchangeObserved(StreamObserver<Entry> answers);
}
