package tern.rpc.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.StreamObserver;

/** Reads a stream as a subscriber or as an observer, and records the stream's events in order. */
public class Probe<T> implements Flow.Subscriber<T>, StreamObserver<T> {

    private static final int MAX_SECONDS = 20;
    private static final Object END = "the end";

    private final BlockingQueue<Object> told = new LinkedBlockingQueue<>();
    private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
    private final AtomicInteger ends = new AtomicInteger();
    private final AtomicInteger count = new AtomicInteger();
    private final long initialRequest;
    private final Consumer<T> onNext;

    private Probe(long initialRequest, Consumer<T> onNext) {
        this.initialRequest = initialRequest;
        this.onNext = onNext;
    }

    /** Creates a probe that requests all values. An observer always gets all values. */
    public static <T> Probe<T> ofAll() {
        return new Probe<>(Long.MAX_VALUE, value -> {});
    }

    /** Creates a probe that requests values only when the test calls it. */
    public static <T> Probe<T> onDemand() {
        return new Probe<>(0, value -> {});
    }

    /** Creates a probe that requests all values and passes each value to the consumer. */
    public static <T> Probe<T> ofAll(Consumer<T> onNext) {
        return new Probe<>(Long.MAX_VALUE, onNext);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription.complete(given);
        if (initialRequest > 0) {
            given.request(initialRequest);
        }
    }

    @Override
    public void onNext(T value) {
        count.incrementAndGet();
        onNext.accept(value);
        told.add(value);
    }

    @Override
    public void onError(Throwable failure) {
        ends.incrementAndGet();
        told.add(failure);
    }

    @Override
    public void onComplete() {
        ends.incrementAndGet();
        told.add(END);
    }

    @Override
    public void onCompleted() {
        onComplete();
    }

    public Flow.Subscription subscription() throws Exception {
        return subscription.get(MAX_SECONDS, TimeUnit.SECONDS);
    }

    public void request(long values) throws Exception {
        subscription().request(values);
    }

    public void cancel() throws Exception {
        subscription().cancel();
    }

    private Object take() throws InterruptedException {
        Object taken = told.poll(MAX_SECONDS, TimeUnit.SECONDS);
        assertThat(taken).as("what the stream brings next").isNotNull();
        return taken;
    }

    /** Returns the next value of the stream. */
    @SuppressWarnings("unchecked")
    public T next() throws InterruptedException {
        Object taken = take();
        assertThat(taken).isNotInstanceOf(Throwable.class).isNotSameAs(END);
        return (T) taken;
    }

    /** Returns all remaining values of the stream, which must complete. */
    @SuppressWarnings("unchecked")
    public List<T> rest() throws InterruptedException {
        List<T> values = new ArrayList<>();
        Object taken;
        while ((taken = take()) != END) {
            assertThat(taken).isNotInstanceOf(Throwable.class);
            values.add((T) taken);
        }
        assertThat(ends).hasValue(1);
        return values;
    }

    /** Returns the stream's failure, which must be the next event. */
    public Throwable failure() throws InterruptedException {
        Object taken = take();
        assertThat(taken).isInstanceOf(Throwable.class);
        assertThat(ends).hasValue(1);
        return (Throwable) taken;
    }

    /** Returns the number of values received so far. */
    public int count() {
        return count.get();
    }

    /** Returns how many times the end of the stream was received, which must not be more than once. */
    public int ends() {
        return ends.get();
    }

    /** Returns the next event without removing it, or null if no event has been received. */
    public @Nullable Object peek() {
        return told.peek();
    }
}
