package tern.rpc.stream;

import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
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

/**
 * Publishes a call's received messages to one subscriber. The stream's serial executor decodes the messages and
 * delivers no more than the requested number. After the subscriber's first request, the publisher requests a limited
 * number of messages and bytes from the transport in advance. One task can then deliver messages that arrive together,
 * even if the subscriber requests one message at a time. Messages requested in advance wait undecoded, and the end of
 * the stream is delivered after them. When the subscription has ended, later messages are discarded. Thread-safe.
 */
public final class InboundPublisher implements Flow.Publisher<Object> {

    /** The source of the publisher's messages. */
    public interface Source {

        /**
         * Requests more messages.
         *
         * @param messages the number of additional messages; 0 only permits the transport to deliver more bytes
         */
        void request(int messages);

        /** Called when the subscriber has cancelled its subscription. */
        void cancel();

        /** Called when no more messages are needed, because a message could not be decoded. */
        void failed(Throwable cause);

        /**
         * Called when no more messages are needed, because the subscriber threw an exception. The subscriber gets no
         * more signals.
         */
        default void subscriberFailed(Throwable cause) {
            failed(cause);
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(InboundPublisher.class);

    /**
     * Limits the number of log lines about subscribers that throw exceptions. A peer can cause any number of such
     * exceptions by ending calls.
     */
    private static final SeldomWarning FAILED_END = new SeldomWarning(LOG, NanoClock.SYSTEM);

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
    // the number of unprocessed changes; the thread that increments it to 1 starts the delivery
    private final AtomicInteger signals = new AtomicInteger();
    private final AtomicLong demand =
            new AtomicLong(); // the number of messages that the subscriber has requested and not yet received
    private final Prefetch prefetch = new Prefetch();
    private final Runnable delivery = this::deliver;

    // Only the serial executor uses "decoded", "subscribed", "ended" and "failure".
    private final Queue<Object> decoded = new ArrayDeque<>(); // filled by decodeWaiting(); may end with an End
    private boolean subscribed;
    private boolean ended;
    private @Nullable Throwable failure;
    private volatile boolean noneFollow; // true after the end of the stream has been queued as the last event
    private volatile boolean begun; // true once the subscriber has requested messages
    // a failure that is delivered before messages that were not requested
    private volatile @Nullable Throwable early;
    private volatile boolean done; // true once the subscriber gets no more callbacks

    /** @param name the call name, for error messages */
    public InboundPublisher(String name, SerialExecutor serial, Source source) {
        this.name = name;
        this.serial = serial;
        this.source = source;
    }

    /**
     * Subscribes to the messages. The first subscriber gets all messages, on the serial executor. Each later subscriber
     * gets an IllegalStateException.
     */
    @Override
    public void subscribe(Flow.Subscriber<? super Object> given) {
        Objects.requireNonNull(given, "subscriber");
        if (subscriber.compareAndSet(null, given)) {
            serial.execute(() -> begin(given));
        } else {
            given.onSubscribe(new RefusedSubscription());
            given.onError(new IllegalStateException(name + ": the messages of a call can have only one subscriber"));
        }
    }

    /** Subscribes an observer, which gets the messages one at a time. Later subscribers are rejected. */
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
            return;
        }
        events.add(message);
        // A message that has not been requested needs no task. The request or the end of the stream will start a task.
        if (demand.get() != 0 || done || noneFollow || subscriber.get() == null) {
            signal();
        }
    }

    /** Queues the end of the message stream. Any thread may call this. */
    public void complete() {
        end(new End(null));
    }

    /**
     * Queues the failure that ended the message stream. The subscriber first gets the messages that arrived before the
     * failure. Any thread may call this.
     */
    public void fail(Throwable reason) {
        end(new End(reason));
    }

    /**
     * Queues the failure that ended the call. Messages that the subscriber has not requested are discarded, so that a
     * slow subscriber is notified of the failure without requesting these messages. Any thread may call this.
     */
    public void failEarly(Throwable reason) {
        early = reason;
        end(new End(reason));
    }

    private void end(End event) {
        events.add(event);
        noneFollow = true;
        signal();
    }

    private void signal() {
        if (signals.getAndIncrement() == 0) {
            serial.execute(delivery);
        }
    }

    /** Starts the delivery if events are queued, because the demand or the subscription has changed. */
    private void deliverWaiting() {
        if (!events.isEmpty()) {
            signal();
        }
    }

    private void deliver() {
        int seen = signals.get();
        for (int i = 0; i < MESSAGES_PER_TASK; i++) {
            if (!isOneHandled()) {
                seen = signals.addAndGet(-seen);
                if (seen == 0) {
                    return;
                }
            }
        }
        serial.execute(delivery);
    }

    /**
     * Handles the next event. Returns false if there is no event, or if the next event is a message that has not been
     * requested.
     */
    private boolean isOneHandled() {
        try {
            return isNextHandled();
        } catch (Throwable e) { // the exception is not rethrown, because later messages must still be delivered
            Thrown.log(e, exception -> LOG.error("{}: a message could not be delivered", name, exception));
            return true;
        }
    }

    private boolean isNextHandled() {
        Object event = decoded.isEmpty() ? events.peek() : decoded.peek();
        if (event == null) {
            return false;
        }
        if (event instanceof End end) {
            remove();
            end(end.reason());
            return true;
        }
        Flow.Subscriber<? super Object> current = subscriber.get();
        if (done || ended || current == null) {
            if (remove() instanceof Message message) {
                message.discard();
            }
            return true;
        }
        if (demand.get() == 0) {
            return isHandledUnrequested(current);
        }
        remove();
        if (event instanceof Message message) {
            handOver(current, message);
        } else {
            passOn(current, event);
        }
        return true;
    }

    private @Nullable Object remove() {
        return decoded.isEmpty() ? events.poll() : decoded.poll();
    }

    /**
     * Handles queued messages without a request if the stream or the call has ended. Returns false if the messages must
     * wait for the next request.
     */
    private boolean isHandledUnrequested(Flow.Subscriber<? super Object> current) {
        Throwable reason = early;
        if (reason != null) {
            end(reason);
            return true;
        }
        if (noneFollow && decoded.isEmpty()) {
            decodeWaiting(current);
            return true;
        }
        return false;
    }

    /**
     * Decodes the queued messages of a stream that has ended. The subscriber may never request these messages, but
     * their buffers must be released at the end of the call.
     */
    private void decodeWaiting(Flow.Subscriber<? super Object> current) {
        while (events.peek() instanceof Message message) {
            events.remove();
            try {
                decoded.add(Objects.requireNonNull(decode(current, message)));
            } catch (Throwable e) {
                decoded.add(new End(e));
                source.failed(e);
                return;
            }
        }
    }

    private void handOver(Flow.Subscriber<? super Object> current, Message message) {
        int bytes = message.bytes();
        Object value;
        try {
            value = decode(current, message);
        } catch (Throwable e) {
            end(e);
            source.failed(e);
            return;
        }
        if (passOn(current, value)) {
            request(prefetch.delivered(bytes, events.isEmpty()));
        }
    }

    private @Nullable Object decode(Flow.Subscriber<? super Object> current, Message message) {
        Object value = message.decode();
        if (value == null && !(current instanceof ObserverFeed)) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    name + ": a message is null, which a publisher cannot pass on; a StreamObserver can",
                    Executed.YES,
                    null);
        }
        return value;
    }

    /** Passes a requested value to the subscriber. Returns false if the subscriber threw an exception. */
    private boolean passOn(Flow.Subscriber<? super Object> current, @Nullable Object value) {
        if (demand.get() != Long.MAX_VALUE) {
            demand.decrementAndGet();
        }
        try {
            next(current, value);
            return true;
        } catch (Throwable e) {
            breakOff(e);
            return false;
        }
    }

    @SuppressWarnings("NullAway") // a value can be null only if the subscriber is an ObserverFeed, which accepts null
    private static void next(Flow.Subscriber<? super Object> subscriber, @Nullable Object value) {
        subscriber.onNext(value);
    }

    /** Stops the delivery because the subscriber threw an exception. */
    private void breakOff(Throwable cause) {
        done = true;
        deliverWaiting(); // discards the messages
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

    private void request(int messages) {
        if (messages != Prefetch.NO_REQUEST && !done) {
            source.request(messages);
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
                        deliverWaiting(); // discards the messages
                        source.failed(wrong);
                    }
                });
                return;
            }
            demand.updateAndGet(before -> before + messages < 0 ? Long.MAX_VALUE : before + messages);
            if (!begun) {
                begun = true;
                InboundPublisher.this.request(prefetch.begin());
            }
            deliverWaiting();
        }

        @Override
        public void cancel() {
            if (!done) {
                done = true;
                deliverWaiting(); // discards the messages
                source.cancel();
            }
        }
    }
}
