package tern.rpc.stream;

import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;

/** Subscribes an observer to all messages. The observer gets one message at a time, and a message may be null. */
final class ObserverFeed implements Flow.Subscriber<Object> {

    private final StreamObserver<Object> observer;

    ObserverFeed(StreamObserver<Object> observer) {
        this.observer = observer;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Object value) {
        try {
            observer.onNext(value);
        } catch (Throwable e) {
            reportOwnFailure(e);
            throw e;
        }
    }

    /** Passes an exception thrown by the observer to the observer's own {@code onError}, at most once. */
    private void reportOwnFailure(Throwable failure) {
        try {
            observer.onError(failure);
        } catch (Throwable e) {
            if (e != failure) {
                failure.addSuppressed(e);
            }
        }
    }

    @Override
    public void onError(Throwable failure) {
        observer.onError(failure);
    }

    @Override
    public void onComplete() {
        observer.onCompleted();
    }
}
