package tern.rpc.stream;

import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import tern.rpc.StreamObserver;

/** Makes an observer a subscriber that asks for one message after the other. It takes null too. */
final class ObserverFeed implements Flow.Subscriber<Object> {

    private final StreamObserver<Object> observer;
    private Flow.@Nullable Subscription subscription; // set first

    ObserverFeed(StreamObserver<Object> observer) {
        this.observer = observer;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(1);
    }

    @Override
    public void onNext(Object value) {
        try {
            observer.onNext(value);
        } catch (Throwable e) {
            tellOwnFailure(e);
            throw e;
        }
        if (subscription != null) {
            subscription.request(1);
        }
    }

    /** Its end, too, is told once. */
    private void tellOwnFailure(Throwable failure) {
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
