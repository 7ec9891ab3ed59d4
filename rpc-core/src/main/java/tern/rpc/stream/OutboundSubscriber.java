package tern.rpc.stream;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Thrown;

/**
 * Sends what a user's publisher gives. It asks for one value at a time, and only while the sink is ready, so a value
 * that comes never has to wait in memory.
 */
public final class OutboundSubscriber implements Flow.Subscriber<Object>, MessageWriter {

    private static final Logger LOG = LoggerFactory.getLogger(OutboundSubscriber.class);

    private final MessageSink sink;
    private final SerialExecutor serial;
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();
    private final AtomicBoolean waiting = new AtomicBoolean(); // the next value was not asked for yet
    private final AtomicInteger asking =
            new AtomicInteger(); // looks that were wanted; the thread of the first takes them
    private final Runnable ask;
    private final Runnable cancel;
    private volatile boolean done;

    /**
     * @param serial runs what event loops must not
     * @param around every call into the publisher
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
        Objects.requireNonNull(value, "value");
        if (done) {
            cancel.run(); // again, since a publisher that gives all in one go sees it here first
            return;
        }
        try {
            sink.send(value);
        } catch (Throwable e) {
            done = true;
            cancel.run();
            sink.fail(e);
            return;
        }
        askWhenReady();
    }

    @Override
    public void onError(Throwable failure) {
        Objects.requireNonNull(failure, "failure");
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

    private void askWhenReady() {
        waiting.set(true);
        askIfReady();
    }

    /** In a loop: a publisher that gives each value within its {@code request} would fill the stack otherwise. */
    private void askIfReady() {
        int looks = asking.incrementAndGet();
        if (looks > 1) {
            return; // whoever asks at present looks again
        }
        do {
            while (sink.isReady() && waiting.compareAndSet(true, false)) {
                ask.run();
            }
            looks = asking.addAndGet(-looks);
        } while (looks != 0);
    }

    private void askNow() {
        Flow.Subscription present = subscription.get();
        if (present == null || done) {
            return;
        }
        try {
            present.request(1);
        } catch (Throwable e) { // which no subscription may do
            done = true;
            sink.fail(e);
        }
    }

    private void cancelNow() {
        Flow.Subscription present = subscription.get();
        if (present != null) {
            try {
                present.cancel();
            } catch (Throwable e) { // which no subscription may do; the call has to end all the same
                Thrown.log(e, shown -> LOG.warn("A publisher failed when it was cancelled", shown));
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
