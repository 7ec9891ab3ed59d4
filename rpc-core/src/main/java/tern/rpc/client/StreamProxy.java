package tern.rpc.client;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.JavaShape;
import tern.rpc.MethodDescriptor;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.stream.Shapes;

/**
 * Makes calls to streaming methods. If the method returns a publisher or a {@code Mono}, each subscription makes a
 * call. Otherwise the call starts immediately. Immutable.
 */
final class StreamProxy {

    private final CallTemplate template;
    private final Executor executor;

    /** @param executor runs the application's callbacks, and never rejects a task */
    StreamProxy(CallTemplate template, Executor executor) {
        this.template = template;
        this.executor = executor;
    }

    @Nullable
    Object call(ClientMethod method, Object[] arguments) throws Throwable {
        checkArguments(method.descriptor(), arguments);
        ServerContext serving = ServerContext.current();
        JavaShape answers = method.descriptor().responses();
        return switch (answers) {
            case PUBLISHER, FLUX ->
                Shapes.many(answers, subscriber -> subscribe(method, arguments, serving, subscriber));
            case OBSERVER -> observed(method, arguments, serving);
            case STAGE, MONO ->
                Shapes.later(answers, () -> newCall(method, arguments, serving).begin());
            case VALUE -> {
                BlockedCall.checkMayBlock(method.descriptor());
                CallersTasks tasks = new CallersTasks(executor);
                yield await(
                        method.descriptor(),
                        newCall(method, arguments, serving, tasks).begin(),
                        tasks);
            }
        };
    }

    private static void checkArguments(MethodDescriptor method, Object[] arguments) {
        boolean takesStream = method.requests() == JavaShape.PUBLISHER || method.requests() == JavaShape.FLUX;
        if (takesStream) {
            Objects.requireNonNull(arguments[0], () -> method + ": the publisher of requests is null");
        }
        if (method.responses() == JavaShape.OBSERVER) {
            Objects.requireNonNull(arguments[arguments.length - 1], () -> method + ": the observer of answers is null");
        }
    }

    /**
     * @param serving the context of the thread that called the method; the subscribing thread may be a different thread
     */
    private StreamCall newCall(ClientMethod method, Object[] arguments, @Nullable ServerContext serving) {
        return newCall(method, arguments, serving, executor);
    }

    /** @param callbacks runs the call's callbacks */
    private StreamCall newCall(
            ClientMethod method, Object[] arguments, @Nullable ServerContext serving, Executor callbacks) {
        return new StreamCall(
                template, method, arguments, callbacks, serving == null ? ServerContext.current() : serving);
    }

    private void subscribe(
            ClientMethod method,
            Object[] arguments,
            @Nullable ServerContext serving,
            Flow.Subscriber<? super Object> subscriber) {
        Objects.requireNonNull(subscriber, "subscriber");
        StreamCall call = newCall(method, arguments, serving);
        call.answersTo(subscriber);
        call.begin();
    }

    private @Nullable StreamObserver<Object> observed(
            ClientMethod method, Object[] arguments, @Nullable ServerContext serving) {
        StreamCall call = newCall(method, arguments, serving);
        StreamObserver<Object> requests =
                method.descriptor().requests() == JavaShape.OBSERVER ? call.requestObserver() : null;
        call.begin();
        return requests;
    }

    /** Blocks until the answer has arrived, and meanwhile runs the call's callbacks. */
    private static @Nullable Object await(
            MethodDescriptor method, CompletableFuture<@Nullable Object> answer, CallersTasks tasks) throws Throwable {
        answer.whenComplete((value, failure) -> tasks.wake());
        CallLedger ledger = CallLedger.current();
        Phase before = ledger.turnTo(Phase.UNATTRIBUTED);
        try {
            tasks.runAll();
            while (!answer.isDone()) {
                LockSupport.park(tasks);
                if (Thread.interrupted()) {
                    Thread.currentThread().interrupt();
                    answer.cancel(true);
                    throw new RpcException(
                            StatusCode.CANCELLED,
                            method + ": the calling thread was interrupted",
                            Executed.MAYBE,
                            null);
                }
                tasks.runAll();
            }
            return answer.get();
        } catch (ExecutionException e) {
            throw CallTemplate.declared(method, e.getCause() == null ? e : e.getCause());
        } finally {
            tasks.leave();
            ledger.turnTo(before);
        }
    }
}
