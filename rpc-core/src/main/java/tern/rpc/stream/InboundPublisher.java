package tern.rpc.stream;

import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.SeldomWarning;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.Thrown;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;

/**
 * Publishes a call's received messages to one subscriber. The stream's serial executor decodes the messages and
 * delivers no more than the requested number. The publisher requests a limited number of messages from the transport in
 * advance, so that one task can deliver messages that arrive together. Messages are discarded if the subscriber no
 * longer wants them. Thread-safe.
 */
public final class InboundPublisher implements Flow.Publisher<Object> {

    /** The source of the publisher's messages. */
    public interface Source {

        /**
         * Requests more messages.
         *
         * @param messages the number of additional messages; 0 only permits the transport to deliver further bytes
         */
        void request(int messages);

        /** Called when the subscriber has cancelled its subscription. */
        void cancel();

        /** Called when no further messages are needed, because a message could not be decoded. */
        void failed(Throwable cause);

        /**
         * Called when no further messages are needed, because the subscriber threw an exception. The subscriber gets no
         * further signal.
         */
        default void subscriberFailed(Throwable cause) {
            failed(cause);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(InboundPublisher.class);

    /** Limits how many subscriber failures are logged, because peers can end any number of calls. */
    private static final SeldomWarning FAILED_END = new SeldomWarning(LOG, NanoClock.SYSTEM);

    /** The initial number of messages requested in advance. The number does not grow while the subscriber is slow. */
    private static final int MIN_AHEAD = 16;

    /** The maximum number of messages requested in advance, for a subscriber that is faster than the peer. */
    private static final int MAX_AHEAD = 256;

    /**
     * Each time this number of bytes has been delivered, the transport is permitted to deliver more. This is half of
     * what the transport may deliver at a time, so that a large message need not wait for the subscriber's next
     * request.
     */
    private static final int RENEWAL_BYTES = MessageStream.ALLOWED_BYTES / 2;

    /**
     * The maximum number of messages that one task delivers. The serial executor runs 32 tasks before other streams get
     * the thread.
     */
    private static final int MESSAGES_PER_TASK = 8;

    private final String name;
    private final SerialExecutor serial;
    private final Source source;
    private final AtomicReference<Flow.@Nullable Subscriber<? super Object>> subscriber = new AtomicReference<>();

    private final Queue<Object> events = new ConcurrentLinkedQueue<>(); // each element is a Message or an End
    private final AtomicInteger unhandled =
            new AtomicInteger(); // the number of queued events; the thread that increments it to 1 starts delivery

    // The number of messages requested by the subscriber, but not yet by this object. Guarded by this.
    private long demand;
    private int onTheirWay; // The number of messages requested from the source but not yet delivered. Guarded by this.
    private int ahead = MIN_AHEAD; // guarded by this
    private int unrenewedBytes; // The number of bytes delivered since the last request to the source. Guarded by this.

    private boolean subscribed; // this field and the next two are used only by the serial executor
    private boolean ended;
    private @Nullable Throwable failure;
    private volatile boolean done; // true once the subscriber gets no further callbacks

    /** @param name the call name, for error messages */
    public InboundPublisher(String name, SerialExecutor serial, Source source) {
        this.name = name;
        this.serial = serial;
        this.source = source;
    }

    /**
     * Subscribes to the messages. The first subscriber gets all messages, on the serial executor. Every further
     * subscriber gets an IllegalStateException.
     */
    @Override
    public void subscribe(Flow.Subscriber<? super Object> given) {
        Objects.requireNonNull(given, "subscriber");
        if (subscriber.compareAndSet(null, given)) {
            serial.execute(() -> begin(given));
        } else {
            given.onSubscribe(new Refused());
            given.onError(new IllegalStateException(name + ": the messages of a call can have only one subscriber"));
        }
    }

    /** Subscribes an observer, which gets the messages one at a time. Further subscribers are rejected. */
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
            deliverEnd(given);
        }
    }

    /** Queues a message that has arrived. Any thread may call this. Does not block. */
    public void message(Message message) {
        if (done) {
            message.discard();
        } else {
            add(message);
        }
    }

    /** Queues the end of the message stream. Any thread may call this. */
    public void complete() {
        add(new End(null));
    }

    /** Queues the failure that ended the message stream. Any thread may call this. */
    public void fail(Throwable reason) {
        add(new End(reason));
    }

    private void add(Object event) {
        events.add(event);
        if (unhandled.getAndIncrement() == 0) {
            serial.execute(this::handle);
        }
    }

    private void handle() {
        for (int i = 0; i < MESSAGES_PER_TASK; i++) {
            Object event = events.remove();
            try {
                handle(event);
            } catch (Throwable e) { // the exception is not rethrown, because later messages must still be delivered
                Thrown.log(e, exception -> LOG.error("{}: a message could not be delivered", name, exception));
            }
            if (unhandled.decrementAndGet() == 0) {
                return;
            }
        }
        serial.execute(this::handle);
    }

    private void handle(Object event) {
        if (event instanceof Message message) {
            handOver(message);
        } else {
            end(((End) event).reason());
        }
    }

    private void handOver(Message message) {
        Flow.Subscriber<? super Object> current = subscriber.get();
        if (done || ended || current == null) {
            message.discard();
            return;
        }
        int bytes = message.bytes();
        Object value;
        try {
            value = message.decode();
            if (value == null && !(current instanceof ObserverFeed)) {
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
            next(current, value);
        } catch (Throwable e) {
            breakOff(e);
            return;
        }
        handedOver(bytes);
    }

    @SuppressWarnings("NullAway") // a value can be null only if the subscriber is an ObserverFeed, which accepts null
    private static void next(Flow.Subscriber<? super Object> subscriber, @Nullable Object value) {
        subscriber.onNext(value);
    }

    /** Stops the delivery because the subscriber threw an exception. */
    private void breakOff(Throwable cause) {
        done = true;
        source.subscriberFailed(cause);
    }

    private void end(@Nullable Throwable reason) {
        if (ended) {
            return;
        }
        ended = true;
        failure = reason;
        Flow.Subscriber<? super Object> current = subscriber.get();
        if (subscribed && current != null) {
            deliverEnd(current);
        }
    }

    private void deliverEnd(Flow.Subscriber<? super Object> current) {
        if (done) {
            return;
        }
        done = true;
        try {
            if (failure == null) {
                current.onComplete();
            } else {
                current.onError(failure);
            }
        } catch (Throwable e) {
            FAILED_END.warn(() -> name + ": the subscriber of its messages failed at their end", e);
            source.subscriberFailed(e);
        }
    }

    private void handedOver(int bytes) {
        boolean starved = unhandled.get() == 1; // true if no event is queued behind the delivered message
        synchronized (this) {
            onTheirWay--;
            unrenewedBytes += bytes;
            if (starved && onTheirWay <= ahead / 2) {
                ahead = Math.min(MAX_AHEAD, 2 * ahead);
            }
        }
        askForMore();
    }

    private void askForMore() {
        int more = 0;
        synchronized (this) {
            if (onTheirWay <= ahead / 2) { // messages are requested in batches rather than one by one
                more = (int) Math.min(demand, ahead - onTheirWay);
            }
            if (more == 0 && (unrenewedBytes < RENEWAL_BYTES || onTheirWay == 0)) {
                return;
            }
            demand -= more;
            onTheirWay += more;
            unrenewedBytes = 0;
        }
        if (!done) {
            source.request(more);
        }
    }

    /**
     * The last event in the queue: the end of the message stream.
     *
     * @param reason the failure, or null if the messages ended normally
     */
    private record End(@Nullable Throwable reason) {}

    /** The subscription that the first subscriber gets. */
    private final class Demand implements Flow.Subscription {

        @Override
        public void request(long messages) {
            if (messages <= 0) {
                IllegalArgumentException wrong = new IllegalArgumentException(
                        name + ": " + messages + " messages were requested; expected more than 0");
                serial.execute(() -> {
                    if (!done) {
                        end(wrong);
                        source.failed(wrong);
                    }
                });
                return;
            }
            synchronized (InboundPublisher.this) {
                demand = demand + messages < 0 ? Long.MAX_VALUE : demand + messages;
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

    /** The subscription of a second subscriber, which was rejected. */
    private static final class Refused implements Flow.Subscription {
        @Override
        public void request(long messages) {
            // Does nothing, because this subscription was rejected.
        }

        @Override
        public void cancel() {
            // Does nothing, because this subscription was rejected.
        }
    }
}
