package tern.rpc.netty.peer;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** A service's subscriber that reads the requests of a stream one by one, and answers when it has read all of them. */
public final class ReadingSubscriber<T, R> implements Flow.Subscriber<T> {

    private final Consumer<? super T> check;
    private final Supplier<? extends R> result;
    private final Runnable over;
    private final Runnable pause;
    private final CompletableFuture<R> answer = new CompletableFuture<>();
    private Flow.@Nullable Subscription requests;

    /**
     * @param check throws an {@link RpcException} if the stream must fail at a request
     * @param over runs when the stream has ended; can run more than once
     * @param pause called at points where a simulation may run other tasks
     */
    public ReadingSubscriber(Consumer<? super T> check, Supplier<? extends R> result, Runnable over, Runnable pause) {
        this.check = check;
        this.result = result;
        this.over = over;
        this.pause = pause;
    }

    public CompletableFuture<R> answer() {
        return answer;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        requests = given;
        pause.run();
        given.request(1);
    }

    @Override
    public void onNext(T request) {
        Flow.Subscription current = Objects.requireNonNull(requests);
        try {
            check.accept(request);
        } catch (RpcException e) {
            over.run();
            current.cancel();
            answer.completeExceptionally(e);
            return;
        }
        current.request(1);
    }

    @Override
    public void onError(Throwable failure) {
        over.run();
        answer.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        over.run();
        pause.run();
        answer.complete(result.get());
    }
}
