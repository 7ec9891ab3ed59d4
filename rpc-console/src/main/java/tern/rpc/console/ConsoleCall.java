package tern.rpc.console;

import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.CallLedger;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.NamedTimes;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.limit.Share;
import tern.rpc.metrics.SlowCallRing.PhaseTime;
import tern.rpc.serialization.JsonEstimate;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.SerializationException;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.ServerCall;
import tern.rpc.transport.ServiceLookup;
import tern.rpc.transport.WrongArguments;

/**
 * A call that the console makes, in the form that the server expects. The thread that handles the browser's HTTP
 * request waits in {@link #await} and watches the call's deadline. A console call needs no thread in addition to this
 * one. Thread-safe.
 */
final class ConsoleCall implements ServerCall {

    /** The interval between calls to the watcher's {@code expired} method while the call has not ended. */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /**
     * The maximum time that {@link #await} waits, after a call has been answered, for the measured phases of the call.
     */
    private static final long COUNTED_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /**
     * The time allowed for the server to end the call after the deadline. After this time, the console cancels the
     * call.
     */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final byte[] NO_ARGUMENTS = {'[', ']'};

    private final ServiceKey key;
    private final MethodDescriptor method;
    private final JsonMethod json;
    private final List<byte[]> messages;
    private final Metadata headers;
    private final Deadline deadline;
    private final Duration timeout;
    private final Share share;
    private final @Nullable SocketAddress caller;
    private final NanoClock clock;
    private final long receivedNanos;
    private final @Nullable ConsoleStream stream;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // The lock guards the following fields, which change during the call.
    private final ConsoleAnswers answers;
    private final ConsoleOutcome outcome = new ConsoleOutcome();
    private @Nullable Watcher watcher;
    private long untilNanos = Long.MAX_VALUE;
    private boolean decoded;
    private boolean ended;
    private boolean hungUp;
    private boolean counted;

    /**
     * @param key the service key of the called service
     * @param messages the encoded arguments, or the encoded messages of a request stream, in the form that the codec
     *     reads
     * @param headers the headers of the call; they are copied
     * @param share counts the running calls of the tenant to which all console calls belong
     * @param caller the address of the browser; null if unknown
     */
    ConsoleCall(
            ServiceKey key,
            MethodDescriptor method,
            JsonMethod json,
            List<byte[]> messages,
            Metadata headers,
            Duration timeout,
            int maxMessages,
            Share share,
            @Nullable SocketAddress caller,
            NanoClock clock) {
        this.key = key;
        this.method = method;
        this.json = json;
        this.messages = messages;
        this.headers = headers.copy();
        this.timeout = timeout;
        this.answers = new ConsoleAnswers(json, method.type(), maxMessages);
        this.share = share;
        this.caller = caller;
        this.clock = clock;
        this.receivedNanos = clock.nanoTime();
        this.deadline = Deadline.at(receivedNanos + timeout.toNanos());
        this.stream = method.type() == MethodType.UNARY
                ? null
                : new ConsoleStream(this, json, method.type().clientStreams() ? messages : List.of());
    }

    @Override
    public String protocol() {
        return ConsoleTransport.PROTOCOL;
    }

    @Override
    public @Nullable SocketAddress remoteAddress() {
        return caller;
    }

    @Override
    public long receivedNanos() {
        return receivedNanos;
    }

    @Override
    public String service() {
        return key.interfaceName();
    }

    @Override
    public MethodDescriptor namedMethod() {
        return method;
    }

    @Override
    public Deadline deadline() {
        return deadline;
    }

    @Override
    public Share share() {
        return share;
    }

    @Override
    public Invocation decode(ServiceLookup services, Admission admission) {
        if (!admission.isOpen()) {
            admission.admit(
                    new CallHead(key, method.name(), false, key + "/" + method.name(), headers.copy(), deadline, this));
        }
        services.require(key);
        Invocation call = new Invocation(key, method, arguments(), headers.copy(), deadline, Runnable::run);
        lock.lock();
        try {
            decoded = true;
        } finally {
            lock.unlock();
        }
        return call;
    }

    private @Nullable Object[] arguments() {
        if (method.type().clientStreams()) {
            return new Object[0];
        }
        byte[] text = messages.isEmpty() ? NO_ARGUMENTS : messages.get(0);
        try {
            JsonEstimate.check(text, 0, text.length);
            // CallRequest.argumentsOf has already removed the array that encloses a single argument.
            return json.readArguments(text, 0, text.length, method.parameters().size() == 1);
        } catch (SerializationException e) {
            throw WrongArguments.unreadable(e);
        }
    }

    @Override
    public MessageStream stream() {
        return stream == null ? ServerCall.super.stream() : stream;
    }

    @Override
    public void sendHeaders(Metadata sent) {
        lock.lock();
        try {
            outcome.sentHeaders(sent);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void reply(Response response) {
        sendHeaders(response.headers());
        if (stream == null) {
            add(response.value());
        }
        end(StatusCode.OK.name(), Executed.YES, "", null, response.metadata());
    }

    @Override
    public void fail(Throwable failure, Metadata metadata) {
        if (failure instanceof RpcException rpc) {
            end(rpc.code().name(), rpc.wasExecuted(), rpc.status().description(), null, metadata);
        } else {
            String text = Thrown.message(failure);
            end(
                    StatusCode.UNKNOWN.name(),
                    Executed.YES,
                    text == null ? "" : text,
                    failure.getClass().getName(),
                    metadata);
        }
    }

    private void end(
            String endCode, Executed wasExecuted, String text, @Nullable String exceptionClass, Metadata metadata) {
        lock.lock();
        try {
            if (ended) {
                return;
            }
            ended = true;
            outcome.ended(endCode, wasExecuted, text, exceptionClass, metadata);
            if (stream != null && endCode.equals(StatusCode.DEADLINE_EXCEEDED.name())) {
                answers.cut("the stream did not end after " + timeout.toMillis() + " ms");
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (stream != null) {
            stream.close();
        }
    }

    /**
     * Adds an answer to the result. If this truncates the result, the waiting thread cancels the call.
     *
     * @throws RpcException INTERNAL if the answer cannot be encoded
     */
    void add(@Nullable Object value) {
        String text = answers.encoded(value);
        lock.lock();
        try {
            if (!ended && answers.add(text)) {
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    boolean isCut() {
        lock.lock();
        try {
            return ended || answers.areCut();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void counted(CallLedger ledger, long elapsedNanos, long now) {
        List<PhaseTime> times = PhaseTime.of(ledger, now);
        List<NamedTimes.Entry> named = ledger.named();
        lock.lock();
        try {
            counted = true;
            outcome.measured(elapsedNanos, times, named);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isOpen() {
        lock.lock();
        try {
            return !ended;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void watch(long until, Watcher newWatcher) {
        boolean gone;
        lock.lock();
        try {
            watcher = newWatcher;
            untilNanos = until;
            gone = hungUp;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (gone) {
            newWatcher.disconnected();
        }
    }

    /** Cancels the call because its result is no longer needed. */
    void hangUp(String why) {
        Watcher current;
        lock.lock();
        try {
            if (hungUp) {
                return;
            }
            hungUp = true;
            current = watcher;
        } finally {
            lock.unlock();
        }
        end(
                StatusCode.CANCELLED.name(),
                hasAnswers() ? Executed.YES : Executed.MAYBE,
                "the console cancelled the call: " + why,
                null,
                new Metadata());
        if (current != null) {
            current.disconnected();
        }
    }

    /**
     * Cancels the call because the user does not want to wait any longer. The result keeps the answers received so far.
     */
    void stop() {
        lock.lock();
        try {
            if (stream != null
                    && !ended
                    && answers.cut("the stream was stopped in the console after " + answers.size() + " answers")) {
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
        hangUp("it was stopped in the console");
    }

    private boolean hasAnswers() {
        lock.lock();
        try {
            return answers.size() > 0;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Blocks until the call has ended, but at most until about one second after its deadline. From the time set by
     * {@link #watch}, calls the watcher's {@code expired} method repeatedly.
     */
    ConsoleOutcome.Result await() {
        long lookNanos = receivedNanos;
        long countedBy = Long.MAX_VALUE;
        long hardEnd = deadline.nanoTime() + GRACE_NANOS;
        while (true) {
            Watcher due = null;
            String hangUpWhy = null;
            lock.lock();
            try {
                long now = clock.nanoTime();
                if (ended && countedBy == Long.MAX_VALUE) {
                    countedBy = now + COUNTED_NANOS;
                }
                if (ended && (counted || !decoded || now - countedBy >= 0)) {
                    return outcome.result(answers, now - receivedNanos);
                }
                long wake;
                if (ended) {
                    wake = countedBy;
                } else if (answers.areCut()) {
                    hangUpWhy = answers.whyCut();
                    wake = now;
                } else if (now - hardEnd >= 0) {
                    hangUpWhy =
                            "it had not ended " + TimeUnit.NANOSECONDS.toMillis(GRACE_NANOS) + " ms after its deadline";
                    wake = now;
                } else if (watcher != null && untilNanos != Long.MAX_VALUE && now - untilNanos >= 0) {
                    if (now - lookNanos >= 0) {
                        due = watcher;
                        lookNanos = now + LOOK_NANOS;
                    }
                    wake = Math.min(lookNanos, hardEnd);
                } else {
                    wake = watcher == null || untilNanos == Long.MAX_VALUE ? hardEnd : Math.min(untilNanos, hardEnd);
                }
                if (due == null && hangUpWhy == null) {
                    changed.awaitNanos(Math.max(1, wake - now));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                hangUpWhy = "its thread was interrupted";
            } finally {
                lock.unlock();
            }
            if (due != null) {
                due.expired();
            }
            if (hangUpWhy != null) {
                hangUp(hangUpWhy);
                if (Thread.currentThread().isInterrupted()) {
                    return resultNow();
                }
            }
        }
    }

    private ConsoleOutcome.Result resultNow() {
        lock.lock();
        try {
            return outcome.result(answers, clock.nanoTime() - receivedNanos);
        } finally {
            lock.unlock();
        }
    }
}
