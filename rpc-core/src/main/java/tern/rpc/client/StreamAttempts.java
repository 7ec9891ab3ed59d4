package tern.rpc.client;

import java.util.Arrays;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.cluster.Target;
import tern.rpc.stream.InboundPublisher;
import tern.rpc.stream.MessageSink;
import tern.rpc.stream.MessageWriter;
import tern.rpc.stream.SerialExecutor;
import tern.rpc.transport.ClientStream;
import tern.rpc.transport.Message;
import tern.rpc.transport.PendingCall;

/**
 * A streaming call with its attempts. The call is sent to another endpoint only under three conditions: the first
 * endpoint certainly did not process the call, no request message can have been sent, and no answer has arrived.
 * Thread-safe.
 */
final class StreamAttempts implements MessageSink, InboundPublisher.Source {

    /** Receives the events of a streaming call. */
    interface Listener {

        /** Called when the response headers have arrived, before the first message. Runs on the serial executor. */
        void headers(Metadata headers);

        /** Called when a message has arrived. Runs on an event loop. */
        void message(Message message);

        /**
         * Called once, when the last attempt has ended. Exactly one argument is not null. Runs on the serial executor,
         * or on the thread that started the call.
         */
        void ended(@Nullable Response response, @Nullable Throwable failure);
    }

    private static final Object[] NO_REQUEST = {};

    private final ClientMethod method;
    private final MethodDescriptor descriptor;
    private final EndpointInvoker endpoints;
    private final SerialExecutor serial;
    private final Listener listener;

    private volatile Deadline deadline = Deadline.none();
    private volatile @Nullable MessageWriter writer;
    private volatile @Nullable Attempt attempt;
    private volatile @Nullable RpcException cancelled;
    private volatile @Nullable RpcException over;

    // The following fields describe the current attempt and are written under the lock on this object. The fields
    // "stream" and "committed" are also read without this lock.
    private volatile @Nullable ClientStream stream;
    private volatile boolean committed; // True once a request may have been sent or an answer has arrived.
    private boolean requestsEnded;
    // True if the sender has disabled compression, although the call's options enable it.
    private boolean plain;
    private int requested; // The number of answers requested while the call may still be sent to another endpoint.

    // The number of the current attempt. Only the attempt's thread uses "number" and "used".
    private int number;
    private @Nullable Target used;

    StreamAttempts(ClientMethod method, SerialExecutor serial, Listener listener) {
        this.method = method;
        this.descriptor = method.descriptor();
        this.endpoints = method.endpoints();
        this.serial = serial;
        this.listener = listener;
    }

    /** Sets the sender of requests. The sender is notified when it can send again and when the call ends. */
    void writeWith(MessageWriter newWriter) {
        writer = newWriter;
        if (over != null) {
            newWriter.over();
        }
    }

    /** Sets the call's deadline, which filters may have changed. */
    void expect(Deadline until) {
        deadline = until;
    }

    void begin(Invocation call) {
        deadline = call.deadline();
        endpoints.begun();
        next(call);
    }

    private void next(Invocation call) {
        if (cancelled == null && endpoints.providerWait().isWaiting(method, call)) {
            endpoints
                    .providerWait()
                    .whenReady(
                            call.withExecutor(serial::execute),
                            () -> cancelled,
                            () -> nextNow(call),
                            failure -> end(null, failure));
        } else {
            nextNow(call);
        }
    }

    private void nextNow(Invocation call) {
        number++;
        Target target;
        try {
            endpoints.checkDeadline(call);
            target = endpoints.pick(method, call, used);
        } catch (Throwable e) { // No provider is known, or the balancer or the endpoint source has thrown an exception.
            end(null, e);
            return;
        }
        used = target;
        Attempt fresh = new Attempt(call, target);
        attempt = fresh;
        fresh.open();
    }

    /** One attempt of the call. The transport calls the methods of this object on an event loop. */
    private final class Attempt implements ClientStream.Receiver, PendingCall.Completion, Executor {

        private final Invocation call;
        private final Target target;
        private final PendingCall pending;
        private final AtomicBoolean completed = new AtomicBoolean();

        Attempt(Invocation call, Target target) {
            this.call = call;
            this.target = target;
            Object[] request = descriptor.type().clientStreams()
                    ? NO_REQUEST
                    : Arrays.copyOf(call.arguments(), descriptor.parameters().size());
            this.pending = endpoints.pending(method, call.withValues(request).withExecutor(this), target, this);
        }

        void open() {
            target.retries().called();
            target.node().beginStream();
            RpcException reason = cancelled;
            if (reason != null) {
                pending.fail(reason);
                return;
            }
            ClientStream opened;
            try {
                opened = target.connection().open(pending, this);
            } catch (Throwable e) {
                completed(null, e);
                return;
            }
            opened(this, opened);
        }

        /**
         * Wakes the sender, which may be blocking the serial executor's thread, and then completes the pending call.
         */
        @Override
        public void execute(Runnable completion) {
            wakeWriter();
            serial.execute(completion);
        }

        @Override
        public void headers(Metadata headers) {
            serial.execute(() -> listener.headers(headers));
        }

        @Override
        public void message(Message message) {
            commit();
            listener.message(message);
        }

        @Override
        public void ended() {
            // Does nothing, because the pending call's completion reports the end or the failure.
        }

        @Override
        public void ready() {
            wakeWriter();
        }

        @Override
        public void completed(@Nullable Response response, @Nullable Throwable failure) {
            if (!completed.compareAndSet(false, true)) {
                return;
            }
            endpoints.ended(
                    target, method, call, failure instanceof RpcException rpc ? rpc : null, pending.startedNanos());
            if (failure instanceof RpcException rpc
                    && rpc.wasExecuted() == Executed.NO
                    && giveUpStream()
                    && endpoints.further().again(method, call, rpc, number, target, pending)) {
                next(call);
            } else {
                end(
                        response,
                        failure instanceof RpcException rpc
                                ? endpoints.failures().explained(rpc, target, call)
                                : failure);
            }
        }
    }

    private void opened(Attempt opener, ClientStream opened) {
        int messages;
        boolean withoutRequests;
        boolean asTheyAre;
        synchronized (this) {
            if (attempt != opener || opener.completed.get()) {
                return; // The attempt failed before its stream was open.
            }
            stream = opened;
            messages = requested;
            withoutRequests = requestsEnded;
            asTheyAre = plain;
        }
        if (asTheyAre) {
            opened.compress(false);
        }
        if (messages > 0) {
            opened.request(messages);
        }
        if (withoutRequests) {
            opened.end();
        }
        wakeWriter();
    }

    /** @return whether the call may be attempted again */
    private synchronized boolean giveUpStream() {
        if (committed || cancelled != null) {
            return false;
        }
        stream = null;
        return true;
    }

    private void commit() {
        if (!committed) {
            synchronized (this) {
                committed = true;
            }
        }
    }

    private void end(@Nullable Response response, @Nullable Throwable failure) {
        close(failure);
        listener.ended(response, failure);
    }

    /** Ends the sending side of the call. */
    void close() {
        close(null);
    }

    /**
     * @param failure the failure of the call, which is also the reason why no more values can be sent; null if the call
     *     has not failed
     */
    private void close(@Nullable Throwable failure) {
        if (over == null) {
            over = ended(failure);
            MessageWriter current = writer;
            if (current != null) {
                current.over();
            }
        }
    }

    private RpcException ended(@Nullable Throwable failure) {
        String text = descriptor + ": the call is over; nothing can be sent";
        return RpcException.refusal(
                StatusCode.CANCELLED,
                failure == null ? text : text + ", because it failed: " + Thrown.text(failure),
                Executed.MAYBE);
    }

    private void wakeWriter() {
        MessageWriter current = writer;
        if (current != null) {
            current.wake();
        }
    }

    /** Ends the call with the given reason if it has not already ended. */
    void cancel(RpcException reason) {
        synchronized (this) {
            if (cancelled != null) {
                return;
            }
            cancelled = reason;
        }
        Attempt current = attempt;
        if (current != null) {
            current.pending.fail(reason);
        }
    }

    /**
     * Returns true if the caller or the deadline has ended the call, and false if the server or the connection has
     * ended it.
     */
    boolean isCutShort(long now) {
        return cancelled != null || deadline.isExpired(now);
    }

    private void cancel(String what, Throwable cause) {
        cancel(
                cause instanceof RpcException rpc
                        ? rpc
                        : new RpcException(
                                StatusCode.CANCELLED,
                                descriptor + " was cancelled: " + what + ": " + Thrown.text(cause),
                                Executed.MAYBE,
                                cause));
    }

    // The following methods are called when the subscriber requests answers, cancels or fails.

    @Override
    public void request(int messages) {
        ClientStream current;
        synchronized (this) {
            if (!committed) {
                requested += messages;
            }
            current = stream;
        }
        if (current != null) {
            current.request(messages);
        }
    }

    @Override
    public void cancel() {
        cancel(RpcException.refusal(StatusCode.CANCELLED, descriptor + " was cancelled by the caller", Executed.MAYBE));
    }

    @Override
    public void failed(Throwable cause) {
        cancel("the receiver of its answers threw an exception", cause);
    }

    // Sending requests

    /**
     * @throws RpcException if the call has no stream yet. Only a publisher that sends more values than were requested
     *     gets this exception
     */
    @Override
    public void send(@Nullable Object value) {
        // After this value has been sent, the call must not be repeated at another endpoint, because that endpoint
        // would not get the value.
        commit();
        ClientStream current = stream;
        if (current != null) {
            current.send(value);
        } else if (over == null && cancelled == null) {
            throw new RpcException(
                    StatusCode.INTERNAL,
                    descriptor + ": its publisher of requests sent a value that was not requested, before the call had"
                            + " a connection",
                    Executed.NO,
                    null);
        }
    }

    @Override
    public void compress(boolean compressed) {
        ClientStream current;
        synchronized (this) {
            plain = !compressed;
            current = stream;
        }
        if (current != null) {
            current.compress(compressed);
        }
    }

    @Override
    public boolean isReady() {
        ClientStream current = stream;
        Attempt running = attempt;
        if (current == null || running == null || over != null || running.pending.isDone() || !current.isReady()) {
            return false;
        }
        if (committed) {
            return true;
        }
        synchronized (this) {
            committed = stream != null;
            return committed;
        }
    }

    @Override
    public @Nullable RpcException over() {
        RpcException reason = over;
        if (reason != null) {
            return reason;
        }
        Attempt running = attempt;
        // The attempt has ended, but the callback that reports its end may have to wait for the calling thread. As long
        // as no value has been sent or received, another attempt may follow.
        boolean isEndWaiting = running != null && running.pending.isDone() && (committed || serial.isRunningHere());
        return isEndWaiting ? ended(null) : null;
    }

    @Override
    public void end() {
        ClientStream current;
        synchronized (this) {
            if (requestsEnded) {
                return;
            }
            requestsEnded = true;
            current = stream;
        }
        if (current != null) {
            current.end();
        }
    }

    @Override
    public void fail(Throwable cause) {
        cancel("its requests failed", cause);
    }

    @Override
    public Deadline deadline() {
        return deadline;
    }
}
