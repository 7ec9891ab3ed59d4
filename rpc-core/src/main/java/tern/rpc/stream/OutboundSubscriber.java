package tern.rpc.stream;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;

/**
 * Sends the values from the application's publisher. The subscriber requests one value at a time, and only while the
 * sink is ready, so that no values wait in memory.
 */
public final class OutboundSubscriber implements Flow.Subscriber<Object>, MessageWriter {

    /** Limits how many publisher failures are logged, because peers can cancel any number of calls. */
    private static final SeldomWarning FAILED_CANCEL =
            new SeldomWarning(LoggerFactory.getLogger(OutboundSubscriber.class), NanoClock.SYSTEM);

    private final MessageSink sink;
    private final SerialExecutor serial;
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();
    private final AtomicBoolean waiting = new AtomicBoolean(); // true while the next value has not been requested
    private final AtomicInteger asking =
            new AtomicInteger(); // the number of pending checks of the sink; one thread performs them all
    private final Runnable ask;
    private final Runnable cancel;
    private volatile boolean done;

    /**
     * @param serial runs steps that must not run on event loops
     * @param around runs each call to the publisher's subscription, for example with the context of the RPC call
     */
    public OutboundSubscriber(MessageSink sink, SerialExecutor serial, UnaryOperator<Runnable> around) {
        this.sink = sink;
        this.serial = serial;
        this.ask = around.apply(this::askNow);
        this.cancel = around.apply(this::cancelNow);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        Objects.requireNonNull(given, "subscription");
        if (!subscription.compareAndSet(null, given)) {
            given.cancel();
        } else if (done) {
            cancel.run();
        } else {
            askWhenReady();
        }
    }

    @Override
    public void onNext(Object value) {
        requireGiven(value, "value");
        if (done) {
            // A publisher can send all its values after a single request. In this case, only this cancellation stops
            // the publisher when the call has ended.
            cancel.run();
            return;
        }
        try {
            sink.send(value);
        } catch (Throwable e) {
            done = true;
            cancel.run();
            sink.abort(e);
            return;
        }
        askWhenReady();
    }

    @Override
    public void onError(Throwable failure) {
        requireGiven(failure, "failure");
        if (!done) {
            done = true;
            sink.fail(failure);
        }
    }

    @Override
    public void onComplete() {
        if (!done) {
            done = true;
            sink.end();
        }
    }

    /**
     * Rejects null, as required by Reactive Streams, and ends the call, because the publisher may ignore the exception.
     */
    private void requireGiven(@Nullable Object given, String what) {
        if (given == null) {
            NullPointerException missing = new NullPointerException("the publisher gave null as a " + what);
            if (!done) {
                done = true;
                cancel.run();
                sink.abort(missing);
            }
            throw missing;
        }
    }

    private void askWhenReady() {
        waiting.set(true);
        askIfReady();
    }

    /**
     * Requests values while the sink is ready. Uses a loop, because recursion would overflow the stack if a publisher
     * sends each value from within its {@code request} method.
     */
    private void askIfReady() {
        int looks = asking.incrementAndGet();
        if (looks > 1) {
            return; // another thread runs this loop and will check once more
        }
        do {
            while (sink.isReady() && waiting.compareAndSet(true, false)) {
                ask.run();
            }
            looks = asking.addAndGet(-looks);
        } while (looks != 0);
    }

    private void askNow() {
        Flow.Subscription current = subscription.get();
        if (current == null || done) {
            return;
        }
        try {
            current.request(1);
        } catch (Throwable e) { // a faulty subscription has thrown an exception; the call must still end
            done = true;
            sink.abort(e);
        }
    }

    private void cancelNow() {
        Flow.Subscription current = subscription.get();
        if (current != null) {
            try {
                current.cancel();
            } catch (Throwable e) { // a faulty subscription has thrown an exception; the call must still end
                FAILED_CANCEL.warn(() -> "A publisher failed when it was cancelled", e);
            }
        }
    }

    @Override
    public void wake() {
        if (waiting.get()) {
            serial.execute(this::askIfReady);
        }
    }

    @Override
    public boolean isWaiting() {
        return waiting.get() && !done;
    }

    @Override
    public void over() {
        if (!done) {
            done = true;
            serial.execute(cancel);
        }
    }
}
