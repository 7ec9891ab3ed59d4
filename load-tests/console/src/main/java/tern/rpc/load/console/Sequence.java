package tern.rpc.load.console;

import java.util.concurrent.Flow;
import java.util.function.LongFunction;

/**
 * Publishes the results of a function for the arguments 1, 2, 3 and so on.
 *
 * @param last the number of values
 * @param ends whether the stream ends after the last value
 * @param cancelled runs if the subscriber cancels the stream
 */
record Sequence<T>(long last, boolean ends, LongFunction<T> value, Runnable cancelled) implements Flow.Publisher<T> {

    @Override
    public void subscribe(Flow.Subscriber<? super T> subscriber) {
        subscriber.onSubscribe(new Flow.Subscription() {
            private long next = 1;
            private volatile boolean over;

            @Override
            public void request(long count) {
                for (long i = 0; i < count && next <= last && !over; i++) {
                    subscriber.onNext(value.apply(next++));
                }
                if (next > last && ends && !over) {
                    over = true;
                    subscriber.onComplete();
                }
            }

            @Override
            public void cancel() {
                over = true;
                cancelled.run();
            }
        });
    }
}
