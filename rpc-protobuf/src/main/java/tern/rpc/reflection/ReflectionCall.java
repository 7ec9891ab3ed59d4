package tern.rpc.reflection;

import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * One call to the reflection service: a stream of requests with a stream of answers. Only one thread at a time uses an
 * instance.
 */
final class ReflectionCall implements Flow.Subscriber<byte[]> {

    private final Flow.Subscriber<? super byte[]> caller;
    private final Reflection reflection;
    private Flow.@Nullable Subscription requests;
    private boolean over;

    ReflectionCall(Flow.Subscriber<? super byte[]> caller, Reflection reflection) {
        this.caller = caller;
        this.reflection = reflection;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        requests = subscription;
        caller.onSubscribe(subscription);
    }

    @Override
    public void onNext(byte[] request) {
        if (over) {
            return;
        }
        byte[] answer;
        try {
            answer = reflection.answer(request);
        } catch (RuntimeException e) {
            if (requests != null) {
                requests.cancel();
            }
            onError(e);
            return;
        }
        caller.onNext(answer);
    }

    @Override
    public void onError(Throwable failure) {
        if (!over) {
            over = true;
            caller.onError(failure);
        }
    }

    @Override
    public void onComplete() {
        if (!over) {
            over = true;
            caller.onComplete();
        }
    }
}
