package tern.rpc.stream;

import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.transport.Message;

/**
 * The messages that a call receives, for one subscriber. They are decoded and handed over on the stream's serial
 * executor, and only as many as the subscriber asked for; however many those are, the transport is asked for a few at a
 * time. Messages that nobody wants are discarded. Thread-safe.
 */
public final class InboundPublisher implements Flow.Publisher<Object> {

    /** Where the messages come from. */
    public interface Source {

        void request(int messages);

        /** The subscriber wants no more. */
        void cancel();

        /** A message could not be read, or the subscriber failed; no more are wanted. */
        void failed(Throwable cause);
    }

    private static final Logger LOG = LoggerFactory.getLogger(InboundPublisher.class);

    /** So that messages on their way to a slow subscriber, which may have asked for all, take little memory. */
    private static final int MOST_ON_THEIR_WAY = 16;

    private final String name;
    private final SerialExecutor serial;
    private final Source source;
    private final AtomicReference<Flow.@Nullable Subscriber<? super Object>> subscriber = new AtomicReference<>();

    private long wanted; // not asked for yet; guarded by this
    private int onTheirWay; // asked for and not handed over yet; guarded by this

    private boolean subscribed; // serial executor only, as the next two
    private boolean ended;
    private @Nullable Throwable failure;
    private volatile boolean done; // the subscriber is told nothing more

    /** @param name of the call, for messages */
    public InboundPublisher(String name, SerialExecutor serial, Source source) {
        this.name = name;
        this.serial = serial;
        this.source = source;
    }

    /** The first subscriber gets everything, on the serial executor; others get an IllegalStateException. */
    @Override
    public void subscribe(Flow.Subscriber<? super Object> given) {
        Objects.requireNonNull(given, "subscriber");
        if (subscriber.compareAndSet(null, given)) {
            serial.execute(() -> begin(given));
        } else {
            given.onSubscribe(new Refused());
            given.onError(new IllegalStateException(name + ": the messages of a call have one subscriber, not two"));
        }
    }

    /** Hands the messages to an observer, asking for the next when it has taken one. In place of a subscriber. */
    public void feed(StreamObserver<Object> observer) {
        subscribe(new ObserverFeed(observer));
    }

    private void begin(Flow.Subscriber<? super Object> given) {
        try {
            given.onSubscribe(new Demand());
        } catch (Throwable e) {
            breakOff(e);
            return;
        }
        subscribed = true;
        if (ended) {
            tellEnd(given);
        }
    }

    /** A message came. Any thread; does not block. */
    public void message(Message message) {
        if (done) {
            message.discard();
        } else {
            serial.execute(() -> handOver(message));
        }
    }

    /** No more follow. Any thread. */
    public void complete() {
        serial.execute(() -> end(null));
    }

    /** No more follow, for this reason. Any thread. */
    public void fail(Throwable reason) {
        serial.execute(() -> end(reason));
    }

    private void handOver(Message message) {
        Flow.Subscriber<? super Object> present = subscriber.get();
        if (done || ended || present == null) {
            message.discard();
            return;
        }
        Object value;
        try {
            value = message.decode();
            if (value == null && !(present instanceof ObserverFeed)) {
                throw new RpcException(
                        StatusCode.INTERNAL,
                        name + ": a message is null, which a publisher cannot pass on; a StreamObserver can",
                        Executed.YES,
                        null);
            }
        } catch (Throwable e) {
            end(e);
            source.failed(e);
            return;
        }
        try {
            next(present, value);
        } catch (Throwable e) {
            breakOff(e);
            return;
        }
        handedOver();
    }

    @SuppressWarnings("NullAway") // only an ObserverFeed gets null
    private static void next(Flow.Subscriber<? super Object> subscriber, @Nullable Object value) {
        subscriber.onNext(value);
    }

    /** A subscriber that throws is told nothing more. */
    private void breakOff(Throwable cause) {
        done = true;
        source.failed(cause);
    }

    private void end(@Nullable Throwable reason) {
        if (ended) {
            return;
        }
        ended = true;
        failure = reason;
        Flow.Subscriber<? super Object> present = subscriber.get();
        if (subscribed && present != null) {
            tellEnd(present);
        }
    }

    private void tellEnd(Flow.Subscriber<? super Object> present) {
        if (done) {
            return;
        }
        done = true;
        try {
            if (failure == null) {
                present.onComplete();
            } else {
                present.onError(failure);
            }
        } catch (Throwable e) {
            LOG.warn("{}: the subscriber of its messages failed when it was told their end", name, e);
            source.failed(e);
        }
    }

    private void handedOver() {
        synchronized (this) {
            onTheirWay--;
        }
        askForMore();
    }

    private void askForMore() {
        int more;
        synchronized (this) {
            if (onTheirWay > MOST_ON_THEIR_WAY / 2) {
                return; // few at a time, but not one by one
            }
            more = (int) Math.min(wanted, MOST_ON_THEIR_WAY - onTheirWay);
            wanted -= more;
            onTheirWay += more;
        }
        if (more > 0 && !done) {
            source.request(more);
        }
    }

    /** What the subscriber is given. */
    private final class Demand implements Flow.Subscription {

        @Override
        public void request(long messages) {
            if (messages <= 0) {
                IllegalArgumentException wrong = new IllegalArgumentException(
                        name + ": " + messages + " messages were asked for; expected more than 0");
                serial.execute(() -> {
                    if (!done) {
                        end(wrong);
                        source.failed(wrong);
                    }
                });
                return;
            }
            synchronized (InboundPublisher.this) {
                wanted = wanted + messages < 0 ? Long.MAX_VALUE : wanted + messages;
            }
            askForMore();
        }

        @Override
        public void cancel() {
            if (!done) {
                done = true;
                source.cancel();
            }
        }
    }

    /** What a second subscriber is given. */
    private static final class Refused implements Flow.Subscription {
        @Override
        public void request(long messages) {
            // its end was told already
        }

        @Override
        public void cancel() {
            // there is nothing to cancel
        }
    }
}
