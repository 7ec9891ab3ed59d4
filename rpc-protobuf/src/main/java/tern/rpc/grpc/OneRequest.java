package tern.rpc.grpc;

import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;

/** A publisher of the only request of a call. */
record OneRequest(Object value) implements Flow.Publisher<Object> {

    @Override
    public void subscribe(Flow.Subscriber<? super Object> subscriber) {
        AtomicBoolean done = new AtomicBoolean();
        subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long messages) {
                if (done.compareAndSet(false, true)) {
                    subscriber.onNext(value);
                    subscriber.onComplete();
                }
            }

            @Override
            public void cancel() {
                done.set(true);
            }
        });
    }
}
