package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;

/**
 * Streaming methods that intentionally use streams incorrectly. The call's header {@value #KIND} contains the name of
 * the {@link Mistake}.
 */
interface Misfits {

    String KIND = "mistake";

    /** The mistakes of methods. A method that cannot make the given mistake throws an exception instead. */
    enum Mistake {
        THROWS,
        THROWS_ERROR,
        RETURNS_NULL,
        THROWS_WHEN_SUBSCRIBED,
        THROWS_AFTER_SUBSCRIPTION,
        THROWS_WHEN_ASKED,
        THROWS_WHEN_CANCELLED,
        THROWS_AFTER_SOME,
        NEVER_SUBSCRIBES,
        SUBSCRIBES_TWICE,
        ENDS_WITHOUT_SUBSCRIPTION,
        FAILS_WITHOUT_SUBSCRIPTION,
        SENDS_BEFORE_SUBSCRIPTION,
        SENDS_TOO_MUCH,
        SENDS_TOO_LARGE,
        SENDS_NULL,
        SENDS_ON_MANY_THREADS,
        SENDS_AFTER_ITS_END,
        IGNORES_CANCEL,
        ENDS_TWICE,
        FAILS_WITH_NULL,
        BLOCKS,
        IGNORES_ITS_REQUESTS,
        ANSWERS_AT_ONCE,
        NEVER_ENDS
    }

    Flow.Publisher<Entry> publish(Period period);

    void observe(Period period, StreamObserver<Entry> answers);

    CompletionStage<Receipt> collect(Flow.Publisher<Entry> entries);

    Flow.Publisher<Entry> exchange(Flow.Publisher<Entry> entries);

    StreamObserver<Entry> exchangeObserved(StreamObserver<Entry> answers);
}
