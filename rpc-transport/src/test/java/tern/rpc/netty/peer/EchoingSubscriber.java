package tern.rpc.netty.peer;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** A service's subscriber that sends each request of a stream back as an answer. */
public final class EchoingSubscriber<T> implements Flow.Subscriber<T> {

    private final Flow.Subscriber<? super T> answers;
    private final Consumer<? super T> check;
    private final Runnable over;
    private final Runnable pause;
    private Flow.@Nullable Subscription requests;
    private boolean failed;

    /**
     * @param check throws an {@link RpcException} if the stream must fail at a request
     * @param over runs when the stream has ended; can run more than once
     * @param pause called at points where a simulation may run other tasks
     */
    public EchoingSubscriber(
            Flow.Subscriber<? super T> answers, Consumer<? super T> check, Runnable over, Runnable pause) {
        this.answers = answers;
        this.check = check;
        this.over = over;
        this.pause = pause;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        requests = given;
        answers.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long more) {
                pause.run();
                given.request(more);
            }

            @Override
            public void cancel() {
                over.run();
                given.cancel();
            }
        });
    }

    @Override
    public void onNext(T request) {
        try {
            check.accept(request);
        } catch (RpcException e) {
            failed = true;
            over.run();
            Objects.requireNonNull(requests).cancel();
            answers.onError(e);
            return;
        }
        answers.onNext(request);
    }

    @Override
    public void onError(Throwable failure) {
        over.run();
        if (!failed) {
            answers.onError(failure);
        }
    }

    @Override
    public void onComplete() {
        over.run();
        pause.run();
        if (!failed) {
            answers.onComplete();
        }
    }
}
