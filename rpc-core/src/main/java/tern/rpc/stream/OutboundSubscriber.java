package tern.rpc.stream;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;

/**
 * Sends the values from the application's publisher. The subscriber requests values only while the {@link MessageSink}
 * is ready. The first request is for one value. Each subsequent request is for twice as many values, up to a limit,
 * because a publisher may have to switch threads for each request. A value that arrives when the sink is no longer
 * ready waits in this object, and the next request is for one value again. Therefore, only a few large values wait in
 * memory.
 */
public final class OutboundSubscriber implements Flow.Subscriber<Object>, MessageWriter {

    /**
     * Limits the number of log lines about publishers that throw exceptions. A peer can cause any number of such
     * exceptions by cancelling calls.
     */
    private static final SeldomWarning FAILED_CANCEL =
            new SeldomWarning(LoggerFactory.getLogger(OutboundSubscriber.class), NanoClock.SYSTEM);

    /** The maximum number of values that are requested but not sent. */
    private static final int MAX_AT_ONCE = 32;

    private final MessageSink sink;
    private final SerialExecutor serial;
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();
    // values that wait until the sink of the call is ready
    private final Queue<Object> values = new ConcurrentLinkedQueue<>();
    private final AtomicInteger work =
            // the number of pending checks whether the sink is ready; one thread performs all checks
            new AtomicInteger();
    private final Runnable ask;
    private final Runnable cancel;
    // The number of values requested but not sent. Only the thread in drain(int) uses "requested" and "batch".
    private int requested;
    // the value of "requested" after the last request; 0 if the sink was not ready at some time since then
    private int batch;
    private volatile @Nullable Thread asking; // the thread that is requesting values
    private volatile boolean waiting; // true while a value waits until the sink of the call is ready
    // set when the application's publisher has ended its values, with the failure if there is one
    private volatile @Nullable Ending ending;
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
            drain();
        }
    }

    @Override
    public void onNext(Object value) {
        requireGiven(value, "value");
        if (done) {
            // A publisher may send all its values after a single request. When the call has ended, only a cancellation
            // stops such a publisher.
            cancel.run();
        } else if (asking == Thread.currentThread()) {
            sendOrKeep(value); // the publisher sends this value while it handles the request
        } else if (work.compareAndSet(0, 1)) {
            sendOrKeep(value);
            drain(1);
        } else {
            values.add(value);
            drain();
        }
    }

    @Override
    public void onError(Throwable failure) {
        requireGiven(failure, "failure");
        end(new Ending(failure));
    }

    @Override
    public void onComplete() {
        end(new Ending(null));
    }

    private void end(Ending given) {
        if (!done && ending == null) {
            ending = given;
            drain();
        }
    }

    /** The end of the publisher, with its failure if there is one. */
    private record Ending(@Nullable Throwable failure) {}

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

    /**
     * Sends values and requests more values while the sink is ready. One thread does all the work, in a loop, because
     * recursion would overflow the stack if a publisher sends each value within its {@code request} method.
     */
    private void drain() {
        if (work.getAndIncrement() == 0) {
            drain(1); // if another thread is already running this loop, that thread checks the sink once more
        }
    }

    private void drain(int checks) {
        int seen = checks;
        do {
            sendAndAsk();
            seen = work.addAndGet(-seen);
        } while (seen != 0);
    }

    private void sendAndAsk() {
        while (!done) {
            // "ending" must be read before the queue: once it is set, the queue contains the publisher's last value
            Ending last = ending;
            Object value = values.peek();
            if (value != null) {
                // Values that the publisher sends without a request are passed on immediately, so that the sink's limit
                // on buffered bytes applies to them.
                if (!isReady() && values.size() <= Math.max(0, requested)) {
                    batch = 0;
                    return;
                }
                values.remove();
                send(value);
            } else if (last != null) {
                finish(last);
            } else if (subscription.get() == null || requested > batch / 2 || !isReady()) {
                return;
            } else {
                ask.run();
            }
        }
        values.clear();
    }

    /** Sends a value on the thread that does the work, unless other values are waiting or the sink is not ready. */
    private void sendOrKeep(Object value) {
        if (values.isEmpty() && isReady()) {
            send(value);
        } else {
            values.add(value);
        }
    }

    private void send(Object value) {
        requested--;
        try {
            sink.send(value);
        } catch (Throwable e) {
            done = true;
            cancel.run();
            sink.abort(e);
        }
    }

    private void finish(Ending last) {
        done = true;
        if (last.failure() == null) {
            sink.end();
        } else {
            sink.fail(last.failure());
        }
    }

    /**
     * Returns whether the {@link MessageSink} is ready for another value. If it is not ready, {@link #wake} continues
     * the work later.
     */
    private boolean isReady() {
        boolean ready = sink.isReady();
        if (!ready) {
            waiting = true;
            ready = sink.isReady(); // the sink may have become ready before "waiting" was set, so it is checked again
        }
        if (ready && waiting) {
            waiting = false;
        }
        return ready;
    }

    private void askNow() {
        Flow.Subscription current = subscription.get();
        if (current == null || done) {
            return;
        }
        batch = Math.max(1, Math.min(MAX_AT_ONCE, 2 * batch));
        int more = batch - Math.max(0, requested);
        requested = batch;
        asking = Thread.currentThread();
        try {
            current.request(more);
        } catch (Throwable e) { // the call must end even if a faulty subscription throws an exception
            done = true;
            sink.abort(e);
        } finally {
            asking = null;
        }
    }

    private void cancelNow() {
        Flow.Subscription current = subscription.get();
        if (current != null) {
            try {
                current.cancel();
            } catch (Throwable e) { // the call must end even if a faulty subscription throws an exception
                FAILED_CANCEL.warn(() -> "A publisher failed when it was cancelled", e);
            }
        }
    }

    @Override
    public void wake() {
        if (waiting) {
            serial.execute(this::drain);
        }
    }

    @Override
    public boolean isWaiting() {
        return waiting && !done;
    }

    @Override
    public void over() {
        if (!done) {
            done = true;
            serial.execute(cancel);
            drain();
        }
    }
}
