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

/** Takes the values of a stream, as a subscriber or as an observer, and keeps what it was told in order. */
public class Probe<T> implements Flow.Subscriber<T>, StreamObserver<T> {

    private static final int LONGEST_SECONDS = 20;
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

    /** One that takes everything; as an observer they all do. */
    public static <T> Probe<T> ofAll() {
        return new Probe<>(Long.MAX_VALUE, value -> {});
    }

    /** One that is asked for nothing until the test says so. */
    public static <T> Probe<T> onDemand() {
        return new Probe<>(0, value -> {});
    }

    /** One that takes everything and does something with it. */
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
        return subscription.get(LONGEST_SECONDS, TimeUnit.SECONDS);
    }

    public void request(long values) throws Exception {
        subscription().request(values);
    }

    public void cancel() throws Exception {
        subscription().cancel();
    }

    private Object take() throws InterruptedException {
        Object taken = told.poll(LONGEST_SECONDS, TimeUnit.SECONDS);
        assertThat(taken).as("what the stream brings next").isNotNull();
        return taken;
    }

    /** The next value. */
    @SuppressWarnings("unchecked")
    public T next() throws InterruptedException {
        Object taken = take();
        assertThat(taken).isNotInstanceOf(Throwable.class).isNotSameAs(END);
        return (T) taken;
    }

    /** All that is left, up to a good end. */
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

    /** The failure that comes next. */
    public Throwable failure() throws InterruptedException {
        Object taken = take();
        assertThat(taken).isInstanceOf(Throwable.class);
        assertThat(ends).hasValue(1);
        return (Throwable) taken;
    }

    /** Values that came so far. */
    public int count() {
        return count.get();
    }

    /** How often an end was told: never more than once. */
    public int ends() {
        return ends.get();
    }

    /** What has come and was not looked at; null if nothing has. */
    public @Nullable Object peek() {
        return told.peek();
    }
}
