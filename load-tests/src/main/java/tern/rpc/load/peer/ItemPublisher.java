package tern.rpc.load.peer;

import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import tern.rpc.load.peer.proto.Item;

/** Publishes items when the subscriber requests them, up to a fixed number of items. */
record ItemPublisher(int items) implements Flow.Publisher<Item> {

    @Override
    public void subscribe(Flow.Subscriber<? super Item> subscriber) {
        subscriber.onSubscribe(new Source(items, subscriber));
    }

    private static final class Source implements Flow.Subscription {

        private final int items;
        private final Flow.Subscriber<? super Item> subscriber;
        private final AtomicLong wanted = new AtomicLong();
        private int next; // Only the thread that is sending items uses this field.
        private volatile boolean over;

        Source(int items, Flow.Subscriber<? super Item> subscriber) {
            this.items = items;
            this.subscriber = subscriber;
        }

        @Override
        public void request(long count) {
            if (wanted.getAndAdd(count) > 0) {
                // An earlier call to request() is still running the loop below, and also sends the items of this
                // request.
                return;
            }
            do {
                give();
            } while (wanted.decrementAndGet() > 0);
        }

        private void give() {
            if (over) {
                return;
            }
            subscriber.onNext(Items.item(next++));
            if (next == items) {
                over = true;
                subscriber.onComplete();
            }
        }

        @Override
        public void cancel() {
            over = true;
        }
    }
}
