package tern.rpc.server;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ForkJoinPool;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.JavaShape;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.stream.Shapes;

/** The last step of a call on the server: calls the service's method. */
final class MethodInvoker implements Invoker {

    private final MethodBody body;
    private final MethodDescriptor method;
    private final JavaShape answer;
    private final boolean builtIn;

    /**
     * @param builtIn whether the method is one of Tern's built-in methods. The failure of a built-in method already
     *     states whether the service's method ran
     */
    MethodInvoker(MethodBody body, MethodDescriptor method, boolean builtIn) {
        this.body = body;
        this.method = method;
        this.answer = method.responses();
        this.builtIn = builtIn;
    }

    /** Returns the class that contains the method; null if it is unknown. */
    @Nullable
    Class<?> type() {
        return body.type();
    }

    boolean isAsync() {
        return answer.isLater();
    }

    /**
     * Runs the method.
     *
     * @return the result; a stage if the result is completed later
     * @throws Throwable the method's failure
     */
    @Nullable
    Object run(Object[] arguments) throws Throwable {
        try {
            Object result = body.run(arguments);
            return isAsync() ? Shapes.stage(answer, required(result)) : result;
        } catch (Throwable e) {
            throw ran(e);
        }
    }

    /**
     * Checks that an asynchronous method has returned an object. Otherwise, the caller would get null as the result.
     */
    private Object required(@Nullable Object returned) {
        if (returned == null) {
            String type = answer == JavaShape.MONO ? "Mono" : "CompletionStage";
            throw new RpcException(
                    StatusCode.INTERNAL, method + " returned null instead of a " + type, Executed.YES, null);
        }
        return returned;
    }

    /**
     * Returns a copy of the failure that reports this method as executed. The given failure may report a call as not
     * executed: for example, this method may have called another service and rethrown the exception of that call.
     */
    Throwable ran(Throwable failure) {
        if (builtIn) {
            return failure;
        }
        Throwable cause = ExceptionPolicy.unwrapped(failure);
        if (cause instanceof RpcException rpc && rpc.wasExecuted() != Executed.YES) {
            return new RpcException(rpc.status(), Executed.YES, rpc);
        }
        return failure;
    }

    /**
     * Runs a unary method. If the method returns a {@code Mono}, cancelling the call also cancels the {@code Mono}.
     * This happens on a common-pool thread, because event loops must not run service code.
     *
     * @param context the context of the call; null if there is none
     * @return the result; a stage if the result is completed later
     * @throws Throwable the method's failure
     */
    @Nullable
    Object runUnary(Object[] arguments, @Nullable ServerContext context) throws Throwable {
        Object result = run(arguments);
        if (answer == JavaShape.MONO && result != null && context != null) {
            CompletableFuture<?> subscribed = ((CompletionStage<?>) result).toCompletableFuture();
            Runnable cancellation = context.wrap(() -> subscribed.cancel(false));
            context.onCancel(() -> {
                if (!subscribed.isDone()) {
                    ForkJoinPool.commonPool().execute(cancellation);
                }
            });
        }
        return result;
    }

    /**
     * Runs the method as the last invoker in the filter chain. Filters get a stage even if the method returns a plain
     * value.
     */
    @Override
    public CompletionStage<Response> invoke(Invocation call) {
        ServerContext context = ServerContext.current();
        if (context != null) {
            context.methodBegins();
        }
        try {
            Object result = runUnary(call.arguments(), context);
            if (result != null && isAsync()) {
                return ((CompletionStage<?>) result).handle((value, failure) -> {
                    if (failure != null) {
                        throw new CompletionException(ran(failure));
                    }
                    return response(value, context);
                });
            }
            return CompletableFuture.completedFuture(response(result, context));
        } catch (Throwable e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    static Response response(@Nullable Object value, @Nullable ServerContext context) {
        return context == null
                ? Response.of(value)
                : new Response(value, context.responseHeaders(), context.responseMetadata());
    }
}
