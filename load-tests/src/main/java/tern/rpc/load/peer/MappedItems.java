package tern.rpc.load.peer;

import java.util.concurrent.Flow;
import tern.rpc.load.peer.proto.Item;

/** Publishes the items of another publisher, like an operator of a reactive library that maps each item. */
record MappedItems(Flow.Publisher<Item> from) implements Flow.Publisher<Item> {

    @Override
    public void subscribe(Flow.Subscriber<? super Item> to) {
        from.subscribe(new Flow.Subscriber<>() {

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                to.onSubscribe(subscription); // the source publisher receives the subscriber's requests unchanged
            }

            @Override
            public void onNext(Item item) {
                to.onNext(item);
            }

            @Override
            public void onError(Throwable failure) {
                to.onError(failure);
            }

            @Override
            public void onComplete() {
                to.onComplete();
            }
        });
    }
}
