package example.calls;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import tern.rpc.StreamObserver;

/** Collects the messages of a stream. */
public class Collector<T> implements StreamObserver<T> {

    private final List<T> values = new CopyOnWriteArrayList<>();
    private final CompletableFuture<List<T>> end = new CompletableFuture<>();

    /** Waits until the stream has ended. If the stream fails, throws an exception whose cause is the failure. */
    public List<T> values() {
        return end.join();
    }

    @Override
    public void onNext(T value) {
        values.add(value);
    }

    @Override
    public void onError(Throwable failure) {
        end.completeExceptionally(failure);
    }

    @Override
    public void onCompleted() {
        end.complete(values);
    }
}
