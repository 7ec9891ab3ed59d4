package tern.rpc.stream;

import java.util.concurrent.Flow;

/** The subscription of a second subscriber to the messages of a call. A second subscriber gets no messages. */
final class RefusedSubscription implements Flow.Subscription {

    @Override
    public void request(long messages) {
        // Does nothing, because this subscription was rejected.
    }

    @Override
    public void cancel() {
        // Does nothing, because this subscription was rejected.
    }
}
