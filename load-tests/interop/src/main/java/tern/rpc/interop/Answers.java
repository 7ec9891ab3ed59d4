package tern.rpc.interop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.StreamObserver;

/** The answers of a streaming call, for a caller that reads them one at a time. */
final class Answers<R> implements Flow.Subscriber<R>, StreamObserver<R> {

    private static final long WAIT_SECONDS = 30;

    private final BlockingQueue<Event<R>> events = new LinkedBlockingQueue<>();
    private volatile Flow.@Nullable Subscription subscription;

    /** One event of a stream: a message or a failure. If both are null, the event is the end of the stream. */
    private record Event<R>(@Nullable R value, @Nullable Throwable failure) {}

    /** Subscribes to the publisher and requests all messages. */
    static <R> Answers<R> of(Flow.Publisher<R> publisher) {
        Answers<R> answers = new Answers<>();
        publisher.subscribe(answers);
        return answers;
    }

    /**
     * Returns the next message.
     *
     * @throws Throwable the call's failure; an AssertionError if the stream has ended or no message arrives in time
     */
    R next() throws Throwable {
        R value = await();
        if (value == null) {
            throw new AssertionError("the answers ended; expected one more");
        }
        return value;
    }

    /** Blocks until the stream ends, and returns all messages that {@link #next} has not returned. */
    List<R> rest() throws Throwable {
        List<R> rest = new ArrayList<>();
        for (R value = await(); value != null; value = await()) {
            rest.add(value);
        }
        return rest;
    }

    void cancel() {
        Flow.Subscription current = subscription;
        if (current != null) {
            current.cancel();
        }
    }

    private @Nullable R await() throws Throwable {
        Event<R> event = events.poll(WAIT_SECONDS, TimeUnit.SECONDS);
        if (event == null) {
            throw new AssertionError("no answer within " + WAIT_SECONDS + " s");
        }
        Throwable failure = event.failure();
        if (failure != null) {
            throw failure;
        }
        return event.value();
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(R value) {
        events.add(new Event<>(value, null));
    }

    @Override
    public void onError(Throwable failure) {
        events.add(new Event<>(null, failure));
    }

    @Override
    public void onComplete() {
        events.add(new Event<>(null, null));
    }

    @Override
    public void onCompleted() {
        onComplete();
    }
}
