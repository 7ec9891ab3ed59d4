package tern.rpc.server;

import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.JavaShape;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.stream.InboundPublisher;
import tern.rpc.stream.MessageSink;
import tern.rpc.stream.MessageWriter;
import tern.rpc.stream.OutboundObserver;
import tern.rpc.stream.OutboundSubscriber;
import tern.rpc.stream.SerialExecutor;
import tern.rpc.stream.Shapes;
import tern.rpc.transport.Message;
import tern.rpc.transport.MessageStream;
import tern.rpc.transport.ServerCall;

/**
 * Connects the message stream of one served call to the parameters and the result of the service's method. Application
 * code runs on the serial executor with the call's context, one step after another. Only a method with a publisher
 * parameter runs outside the executor, because it might block until its requests arrive.
 */
final class ServedStream implements MessageStream.Receiver, MessageSink, InboundPublisher.Source {

    private final MethodHandler handler;
    private final MethodDescriptor method;
    private final ServerCall call;
    private final ServerContext serving;
    private final NanoClock clock;
    private final MessageStream messages;
    private final SerialExecutor serial;
    private final InboundPublisher requests;
    private final StreamWaits.Patience patience;
    private final CompletableFuture<Response> result = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Response> end = new CompletableFuture<>();
    private final AtomicBoolean invoked = new AtomicBoolean();
    private final AtomicBoolean headersSent = new AtomicBoolean();
    private volatile @Nullable MessageWriter writer;
    // The subscription to the Mono that the method returned; cancelled when the call ends.
    private volatile @Nullable CompletableFuture<?> mono;
    private volatile @Nullable RpcException over;
    private volatile boolean aborted; // true if Tern ended the method's stream because of an exception
    private volatile boolean methodRuns; // true until the method has returned

    /**
     * @param waits limits how long workers wait for slow readers
     * @param callbacks runs the stream's callbacks, and never rejects a task
     */
    ServedStream(
            MethodHandler handler,
            ServerCall call,
            ServerContext serving,
            NanoClock clock,
            StreamWaits waits,
            Executor callbacks) {
        this.patience = waits.new Patience();
        this.handler = handler;
        this.method = handler.method();
        this.call = call;
        this.serving = serving;
        this.clock = clock;
        this.messages = call.stream();
        this.serial = new SerialExecutor(task -> callbacks.execute(serving.wrap(task)));
        this.requests = new InboundPublisher(method.fullName(), serial, this);
    }

    /**
     * Runs the filters and the method on the calling thread. If another thread is running a callback of this stream,
     * the filters and the method run after that callback, on another thread. After the method has returned, the calling
     * thread may also run pending callbacks.
     *
     * @param ended called at the end of the call; its response has a value if the method has a single answer
     */
    void run(Invocation decoded, BiConsumer<? super @Nullable Response, ? super @Nullable Throwable> ended) {
        messages.start(this);
        Invocation asCalled = decoded.withArguments(javaArguments(decoded.arguments()));
        end.whenComplete(ended);
        Runnable task = () -> runFiltered(asCalled);
        if (takesPublisher()) {
            task.run();
        } else {
            serial.executeHere(task);
        }
    }

    private void runFiltered(Invocation asCalled) {
        try {
            handler.filtered(this::invoke).invoke(asCalled).whenComplete((response, failure) -> {
                if (failure != null) {
                    end.completeExceptionally(failure);
                } else {
                    end.complete(response);
                }
            });
        } catch (Throwable e) { // A filter has thrown an exception.
            end.completeExceptionally(e);
        }
    }

    private boolean takesPublisher() {
        return method.requests() == JavaShape.PUBLISHER || method.requests() == JavaShape.FLUX;
    }

    /** Returns the arguments in the form that the method's Java signature requires. */
    private Object[] javaArguments(Object[] decoded) {
        Object[] values = takesPublisher() ? new Object[] {Shapes.many(method.requests(), requests)} : decoded;
        if (method.responses() != JavaShape.OBSERVER) {
            return values;
        }
        OutboundObserver answers = new OutboundObserver(method.fullName(), this, serial, clock);
        writeWith(answers);
        Object[] arguments = Arrays.copyOf(values, values.length + 1);
        arguments[values.length] = answers;
        return arguments;
    }

    /** Runs the method after the filters have passed the call on. */
    private CompletionStage<Response> invoke(Invocation filtered) {
        if (!invoked.compareAndSet(false, true)) {
            return CompletableFuture.failedFuture(new RpcException(
                    StatusCode.INTERNAL,
                    "a filter passed on the stream " + method + " twice; call next.invoke only once"));
        }
        serving.methodBegins();
        try {
            connect(runMethod(filtered.arguments()));
        } catch (Throwable e) {
            fail(e);
        }
        return result;
    }

    private @Nullable Object runMethod(Object[] arguments) throws Throwable {
        methodRuns = true;
        try {
            return handler.last().run(arguments);
        } finally {
            methodRuns = false;
        }
    }

    /** Handles the method's return value: subscribes to a publisher of answers, or sends a single answer. */
    @SuppressWarnings("unchecked")
    private void connect(@Nullable Object returned) {
        if (method.requests() == JavaShape.OBSERVER) {
            requests.feed((StreamObserver<Object>) required(returned));
        }
        switch (method.responses()) {
            case PUBLISHER, FLUX -> subscribe(Shapes.publisher(method.responses(), required(returned)));
            case STAGE, MONO -> answerLater((CompletionStage<?>) required(returned));
            case VALUE -> answer(returned);
            case OBSERVER -> {
                // Does nothing, because the method sends the answers and the end through its observer.
            }
        }
    }

    private Object required(@Nullable Object returned) {
        if (returned == null) {
            throw new RpcException(StatusCode.INTERNAL, method + " returned null instead of a stream");
        }
        return returned;
    }

    private void subscribe(Flow.Publisher<Object> answers) {
        OutboundSubscriber subscriber = new OutboundSubscriber(this, serial, serving::wrap);
        writeWith(subscriber);
        answers.subscribe(subscriber);
    }

    private void writeWith(MessageWriter made) {
        writer = made;
        if (over != null) {
            made.over();
        }
    }

    private void answer(@Nullable Object value) {
        result.complete(MethodInvoker.response(value, serving));
    }

    private void answerLater(CompletionStage<?> stage) {
        if (method.responses() == JavaShape.MONO) {
            CompletableFuture<?> subscribed = stage.toCompletableFuture();
            mono = subscribed;
            if (over != null) {
                subscribed.cancel(false); // the call ended before the method returned its Mono
            }
        }
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                answer(value);
            } else {
                fail(failure);
            }
        });
    }

    /** Sends the single answer, if the method has one, and then the end of the call. */
    void reply(Response response) {
        if (!method.type().serverStreams()) {
            call.sendHeaders(response.headers());
            messages.send(response.value());
        }
        call.reply(response.withValue(null));
    }

    /**
     * Ends the call's streams after the call has been answered. If the method has not ended the call itself, the call's
     * cancel listeners run. The listeners also wake a method that is waiting for {@link MessageSink#isReady}.
     */
    void answered() {
        if (aborted || (invoked.get() && !result.isDone())) {
            serving.cancel();
        }
        over(ServedFailures.endedAlready(method));
    }

    /**
     * Ends the call's streams for the given reason, because the call has ended or its caller has disconnected. Any
     * thread may call this method, even repeatedly.
     */
    void over(RpcException reason) {
        if (over != null) {
            return;
        }
        over = reason;
        requests.failEarly(reason);
        MessageWriter sending = writer;
        if (sending != null) {
            sending.over();
        }
        serial.execute(() -> endEarly(reason));
    }

    private void endEarly(RpcException reason) {
        result.completeExceptionally(reason);
        CompletableFuture<?> unwanted = mono;
        if (unwanted != null) {
            unwanted.cancel(false);
        }
    }

    // The transport calls the following methods on an event loop.

    @Override
    public void message(Message message) {
        requests.message(message);
    }

    @Override
    public void ended() {
        requests.complete();
    }

    @Override
    public void ready() {
        MessageWriter sending = writer;
        if (sending != null) {
            sending.wake();
        }
    }

    @Override
    public boolean isWaitingToSend() {
        MessageWriter current = writer;
        return over == null && current != null && current.isWaiting();
    }

    // The following methods are called when the subscriber requests messages, cancels or fails.

    @Override
    public void request(int count) {
        messages.request(count);
    }

    @Override
    public void cancel() {
        // The method needs no more requests, but the call itself has not ended.
    }

    @Override
    public void failed(Throwable cause) {
        abort(cause);
    }

    /**
     * If the method is still running, ends the call without waiting for the method and its filters. The method may be
     * waiting for its subscriber, which will get no more signals.
     */
    @Override
    public void subscriberFailed(Throwable cause) {
        abort(cause);
        if (methodRuns) {
            result.whenComplete((response, failure) -> {
                if (failure != null) {
                    end.completeExceptionally(failure);
                }
            });
        }
    }

    // The following methods send the answers of the service's method.

    @Override
    public void send(@Nullable Object value) {
        if (!headersSent.get() && headersSent.compareAndSet(false, true)) {
            serving.sendHeaders();
        }
        messages.send(value);
    }

    @Override
    public void compress(boolean compressed) {
        serving.compressResponse(compressed);
    }

    @Override
    public boolean isReady() {
        return over == null && messages.isReady();
    }

    @Override
    public long mayWaitNanos() {
        return patience.leftNanos(messages.takenBytes(), messages.takenStepBytes());
    }

    @Override
    public void hasWaited(long nanos) {
        patience.waited(nanos);
    }

    @Override
    public @Nullable RpcException over() {
        return over;
    }

    @Override
    public void end() {
        result.complete(MethodInvoker.response(null, serving));
    }

    @Override
    public void abort(Throwable cause) {
        aborted = true;
        fail(cause);
    }

    @Override
    public void fail(Throwable cause) {
        Throwable outcome;
        try {
            outcome = handler.last().ran(cause);
        } catch (Throwable e) { // the call must end even if the failure cannot be converted
            outcome = e;
        }
        result.completeExceptionally(outcome);
    }

    @Override
    public Deadline deadline() {
        return serving.deadline();
    }
}
