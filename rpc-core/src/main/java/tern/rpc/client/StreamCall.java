package tern.rpc.client;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.Filter;
import tern.rpc.Invocation;
import tern.rpc.JavaShape;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Phase;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.Thrown;
import tern.rpc.stream.InboundPublisher;
import tern.rpc.stream.OutboundObserver;
import tern.rpc.stream.OutboundSubscriber;
import tern.rpc.stream.SerialExecutor;
import tern.rpc.stream.Shapes;
import tern.rpc.transport.Message;

/**
 * One streaming call by the application, from its start to its end. One serial executor runs all callbacks, including
 * the callbacks for answers and for the end of the stream. Requests are sent on the application's threads.
 */
final class StreamCall implements StreamAttempts.Listener {

    private final CallTemplate template;
    private final ClientMethod method;
    private final MethodDescriptor descriptor;
    private final Object[] arguments;
    private final @Nullable ServerContext serving;
    private final CallLedger ledger;
    private final SerialExecutor serial;
    private final StreamAttempts attempts;
    private final InboundPublisher answers;
    private final SingleAnswer single;
    private final CallFuture<Response> ended;
    private final CallFuture<@Nullable Object> result;
    private final AtomicBoolean passed = new AtomicBoolean();
    // The fields "started", "operation", "nested" and "answersTaken" are set when the call starts.
    private long started;
    private AsyncOperation operation = AsyncOperation.none();
    private @Nullable NestedCall nested;
    private boolean answersTaken;
    private boolean headersShown; // Only the serial executor uses headersShown.
    private volatile boolean closed; // Only the serial executor writes the field "closed".
    // checks the deadline while filters delay the call; null if there are no filters
    private @Nullable LateFilters late;

    /**
     * @param executor runs the application's callbacks, and never rejects a task
     * @param serving the call that the current thread serves, whose deadline limits the new call; may be null
     */
    StreamCall(
            CallTemplate template,
            ClientMethod method,
            Object[] arguments,
            Executor executor,
            @Nullable ServerContext serving) {
        this.template = template;
        this.method = method;
        this.descriptor = method.descriptor();
        this.arguments = arguments;
        this.serving = serving;
        this.ledger = serving == null ? CallLedger.ofOtherCall() : serving.ledger();
        this.serial = new SerialExecutor(executor);
        this.attempts = new StreamAttempts(method, serial, this);
        this.answers = new InboundPublisher(descriptor.fullName(), serial, attempts);
        this.single = new SingleAnswer(descriptor);
        this.ended = new CallFuture<>(serial);
        this.result = new CallFuture<>(serial);
        ended.onCancel(attempts::cancel);
        result.onCancel(attempts::cancel);
    }

    /** Sets the subscriber for the answers, if the arguments contain no receiver. Called before {@link #begin}. */
    void answersTo(Flow.Subscriber<? super Object> subscriber) {
        answersTaken = true;
        answers.subscribe(subscriber);
    }

    /** Returns the observer for sending the application's requests. Called before {@link #begin}. */
    StreamObserver<Object> requestObserver() {
        OutboundObserver observer = new OutboundObserver(descriptor.fullName(), attempts, serial, template.clock());
        attempts.writeWith(observer);
        return observer;
    }

    /**
     * Passes the call through the filters and sends it.
     *
     * @return a future that completes at the end of the call, with the single answer or with null
     */
    CompletableFuture<@Nullable Object> begin() {
        started = template.clock().nanoTime();
        operation = ledger.begin(Phase.RPC, method.descriptor()::label);
        nested = NestedCall.begin(serving, template.clock(), attempts::cancel);
        try {
            Invocation call = template.invocation(method, arguments, started, serial, serving);
            attempts.expect(call.deadline());
            LateFilters filters = lateFilters(call);
            late = filters;
            Filter.chain(method.filters(), this::pass)
                    .invoke(call)
                    .whenComplete((response, failure) -> serial.execute(() -> close(response, failure)));
            if (filters != null && !passed.get()) {
                filters.watch();
            }
        } catch (Throwable e) { // A filter threw the exception, or caused it by returning null.
            serial.execute(() -> close(null, e));
        }
        return result;
    }

    private @Nullable LateFilters lateFilters(Invocation call) {
        return method.filters().isEmpty()
                ? null
                : new LateFilters(
                        method.endpoints().providerWait(),
                        template.clock(),
                        call,
                        started,
                        passed::get,
                        passed::get,
                        () -> closed,
                        failure -> close(null, failure));
    }

    /** Starts the call after the filters have passed it on. */
    private CompletionStage<Response> pass(Invocation call) {
        if (!passed.compareAndSet(false, true)) {
            return CompletableFuture.failedFuture(
                    closed
                            ? RpcException.refusal(StatusCode.CANCELLED, descriptor + " is over", Executed.NO)
                            : new RpcException(
                                    StatusCode.INTERNAL,
                                    "a filter passed on the stream " + descriptor
                                            + " twice; call next.invoke only once",
                                    Executed.NO,
                                    null));
        }
        takeAnswers(call.arguments());
        attempts.begin(call);
        sendRequests(call.arguments());
        return ended;
    }

    @SuppressWarnings("unchecked")
    private void takeAnswers(Object[] given) {
        if (!descriptor.type().serverStreams()) {
            answersTaken = true;
            answers.feed(single);
        } else if (descriptor.responses() == JavaShape.OBSERVER) {
            answersTaken = true;
            answers.feed((StreamObserver<Object>) given[given.length - 1]);
        }
    }

    private void sendRequests(Object[] given) {
        JavaShape shape = descriptor.requests();
        if ((shape != JavaShape.PUBLISHER && shape != JavaShape.FLUX) || attempts.over() != null) {
            return;
        }
        OutboundSubscriber subscriber = new OutboundSubscriber(attempts, serial, UnaryOperator.identity());
        attempts.writeWith(subscriber);
        try {
            Shapes.publisher(shape, given[0]).subscribe(subscriber);
        } catch (Throwable e) {
            attempts.fail(e);
        }
    }

    @Override
    public void headers(Metadata headers) {
        try {
            showHeaders(headers);
        } catch (Throwable e) {
            result.completeExceptionally(e);
            answers.fail(e);
            attempts.failed(e);
        }
    }

    @Override
    public void message(Message message) {
        answers.message(message);
    }

    @Override
    public void ended(@Nullable Response response, @Nullable Throwable failure) {
        complete(response, failure);
        LateFilters filters = late;
        if (filters != null) {
            serial.execute(filters::watch); // If the filters have ended the call, close() runs before this task.
        }
    }

    private void complete(@Nullable Response response, @Nullable Throwable failure) {
        if (response == null) {
            ended.completeExceptionally(failure == null ? new IllegalStateException("no end") : failure);
            return;
        }
        try {
            ended.complete(descriptor.type().serverStreams() ? response : response.withValue(single.value()));
        } catch (RpcException e) {
            ended.completeExceptionally(e);
        }
    }

    private void showHeaders(Metadata headers) {
        if (!headersShown) {
            headersShown = true;
            template.showHeaders(headers);
        }
    }

    /** Ends the call with the result that the filters returned. Runs on the serial executor. */
    private void close(@Nullable Response response, @Nullable Throwable failure) {
        if (closed) {
            return; // The call has already ended at its deadline, before the filters ended it.
        }
        closed = true;
        LateFilters watched = late;
        if (watched != null) {
            watched.ended();
        }
        Throwable inner = failure instanceof CompletionException ? Thrown.cause(failure) : null;
        Throwable cause = inner == null ? failure : inner;
        Object value = null;
        try {
            if (cause == null) {
                Response given = CallTemplate.requireResponse(method, response);
                showHeaders(given.headers());
                template.showTrailers(given.metadata());
                value = given.value();
            } else {
                cause = template.showTrailers(cause);
            }
        } catch (Throwable e) {
            cause = e;
        }
        long now = template.clock().nanoTime();
        long elapsedNanos = now - started;
        boolean early = attempts.isCutShort(now);
        operation.end();
        NestedCall observed = nested;
        if (observed != null) {
            observed.end();
        }
        method.meters().ended(cause, elapsedNanos);
        attempts.cancel(); // The call is still running if the filters completed their stage early.
        attempts.close();
        if (passed.compareAndSet(false, true) && !answersTaken) {
            takeAnswers(arguments);
        }
        if (cause == null) {
            answers.complete();
            result.complete(value);
        } else {
            if (early || (cause instanceof RpcException rpc && rpc.code() == StatusCode.DEADLINE_EXCEEDED)) {
                answers.failEarly(cause);
            } else {
                answers.fail(cause);
            }
            result.completeExceptionally(cause);
        }
    }
}
