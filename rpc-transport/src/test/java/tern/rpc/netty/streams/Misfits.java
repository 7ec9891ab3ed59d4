package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;

/** Streaming methods that break the rules. The header {@value #KIND} of the call names the {@link Mistake}. */
interface Misfits {

    String KIND = "mistake";

    /** The mistakes of methods. A method for which a mistake makes no sense throws an exception. */
    enum Mistake {
        THROWS,
        RETURNS_NULL,
        THROWS_WHEN_SUBSCRIBED,
        THROWS_WHEN_ASKED,
        SENDS_TOO_MUCH,
        ENDS_TWICE,
        SENDS_AFTER_ITS_END,
        SENDS_NULL,
        THROWS_AFTER_SOME,
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
