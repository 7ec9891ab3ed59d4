package tern.rpc.netty.triple;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Records the events of a stream. Implements a subscriber and the observers of Tern and Dubbo. Thread-safe. */
final class StreamRecorder<T>
        implements tern.rpc.StreamObserver<T>, org.apache.dubbo.common.stream.StreamObserver<T>, Flow.Subscriber<T> {

    private static final String COMPLETED = "completed";

    private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
    private volatile Flow.@Nullable Subscription subscription;

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(T value) {
        events.add(value);
    }

    @Override
    public void onError(Throwable failure) {
        events.add(failure);
    }

    @Override
    public void onComplete() {
        events.add(COMPLETED);
    }

    @Override
    public void onCompleted() {
        events.add(COMPLETED);
    }

    void cancel() {
        Flow.Subscription known = subscription;
        if (known == null) {
            throw new IllegalStateException("nothing was subscribed to");
        }
        known.cancel();
    }

    /** Blocks until the next event occurs, and returns it. */
    Object next() throws InterruptedException {
        Object event = events.poll(20, TimeUnit.SECONDS);
        if (event == null) {
            throw new AssertionError("nothing was told within 20 seconds");
        }
        return event;
    }

    /** Returns the next event, which must be a failure. */
    Throwable failure() throws InterruptedException {
        Object event = next();
        if (event instanceof Throwable failure) {
            return failure;
        }
        throw new AssertionError("not a failure: " + event);
    }

    /** Returns all messages of a stream. The stream must complete without a failure. */
    @SuppressWarnings("unchecked")
    List<T> all() throws InterruptedException {
        List<T> messages = new ArrayList<>();
        for (Object event = next(); event != COMPLETED; event = next()) {
            if (event instanceof Throwable failure) {
                throw new AssertionError("the stream failed", failure);
            }
            messages.add((T) event);
        }
        return messages;
    }
}
