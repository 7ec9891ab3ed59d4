package tern.rpc.client;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.AsyncOperation;
import tern.rpc.CallLedger;
import tern.rpc.CallOptions;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.JavaShape;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.stream.Shapes;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RemoteFailures;

/** Converts method calls on a service interface to remote calls. Immutable. */
final class ServiceProxy implements InvocationHandler, CallOptions.Target {

    private static final Logger LOG = LoggerFactory.getLogger(ServiceProxy.class);

    private final Class<?> type;
    private final Map<Method, ClientMethod> methods;
    private final WorkerPool executor;
    private final NanoClock clock;
    private final CallTemplate template;
    private final StreamProxy streams;
    private final @Nullable Fallback fallback;
    private final Set<Method> loggedDefaults = ConcurrentHashMap.newKeySet();

    /**
     * @param executor runs application callbacks for asynchronous calls
     * @param fallback answers unary calls if no provider accepts them; may be null
     */
    ServiceProxy(
            Class<?> type,
            Map<Method, ClientMethod> methods,
            WorkerPool executor,
            CallTemplate template,
            @Nullable Fallback fallback) {
        this.type = type;
        this.methods = methods;
        this.executor = executor;
        this.clock = template.clock();
        this.template = template;
        this.fallback = fallback;
        this.streams = new StreamProxy(template, executor::executeAdmitted);
    }

    Object newProxy() {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, this);
    }

    @Override
    public Object with(CallOptions options) {
        return new ServiceProxy(type, methods, executor, template.with(options), fallback).newProxy();
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments) throws Throwable {
        ClientMethod called = methods.get(method);
        Object[] given = arguments == null ? NO_ARGUMENTS : arguments;
        if (called == null) {
            return local(proxy, method, given);
        }
        if (called.isStream()) {
            return streams.call(called, given);
        }
        return switch (called.descriptor().responses()) {
            case STAGE -> callAsync(called, method, given, ServerContext.current());
            case MONO -> mono(called, method, given);
            default -> callOrFallBack(called, proxy, method, given);
        };
    }

    private @Nullable Object callOrFallBack(ClientMethod called, Object proxy, Method method, Object[] arguments)
            throws Throwable {
        try {
            return method.isDefault() ? callOrDefault(called, proxy, method, arguments) : call(called, arguments);
        } catch (RpcException e) {
            if (fallback != null && Fallback.covers(e)) {
                return fallback.value(method, arguments, e);
            }
            throw e;
        }
    }

    /**
     * Calls a default method at a provider, or runs its body locally if an older provider does not have the method. If
     * the provider lacks the whole service in this group and version, the call fails, because running the body locally
     * would hide a configuration error.
     */
    private @Nullable Object callOrDefault(ClientMethod called, Object proxy, Method method, Object[] arguments)
            throws Throwable {
        try {
            return call(called, arguments);
        } catch (RpcException e) {
            if (e.code() != StatusCode.UNIMPLEMENTED
                    || e.wasExecuted() == Executed.YES
                    || !RemoteFailures.isMissingMethod(e.status().description())) {
                throw e;
            }
            if (loggedDefaults.add(method)) {
                LOG.info(
                        "{} runs in the caller, because the provider does not have this method: {}",
                        called.descriptor(),
                        e.getMessage());
            }
            return DefaultMethods.invoke(proxy, method, arguments);
        }
    }

    private static final Object[] NO_ARGUMENTS = {};

    /** Runs methods that are not remote: the methods of Object, and default methods marked as local. */
    private @Nullable Object local(Object proxy, Method method, Object[] arguments) throws Throwable {
        if (method.isDefault()) {
            return DefaultMethods.invoke(proxy, method, arguments);
        }
        return switch (method.getName()) {
            case "equals" -> proxy == arguments[0];
            case "hashCode" -> System.identityHashCode(proxy);
            default -> "proxy of " + template.service();
        };
    }

    private @Nullable Object call(ClientMethod method, Object[] arguments) throws Throwable {
        BlockedCall.checkMayBlock(method.descriptor());
        long started = clock.nanoTime();
        ServerContext serving = ServerContext.current();
        CallLedger ledger = serving == null ? CallLedger.ofOtherCall() : serving.ledger();
        boolean recorded = ledger.isOpen();
        Phase interrupted = ledger.enter(Phase.RPC);
        Throwable failure = null;
        String name = method.providerNames().at(null);
        try {
            Invoker filters = method.filtered();
            if (filters != null) {
                WaitingCaller caller = new WaitingCaller(executor, started, serving, clock, method.endpoints());
                try {
                    return value(callFiltered(method, filters, arguments, started, caller, serving));
                } finally {
                    name = method.providerNames().at(caller.endpoint());
                }
            }
            Invocation call = template.invocation(method, arguments, started, executor, serving);
            if (serving == null && !recorded) {
                return value(method.endpoints().callAndWait(method, call, null));
            }
            BlockedCall nested = new BlockedCall(serving, clock, ledger, method.providerNames());
            nested.begin();
            try {
                return value(method.endpoints().callAndWait(method, call, nested));
            } finally {
                nested.end();
                name = nested.name();
            }
        } catch (Throwable e) {
            failure = template.showTrailers(e);
            throw CallTemplate.declared(method.descriptor(), failure);
        } finally {
            if (recorded) {
                ledger.leave(interrupted, ProviderMethodNames.ended(name, failure));
            }
            method.meters().ended(failure, clock.nanoTime() - started);
        }
    }

    private Response callFiltered(
            ClientMethod method,
            Invoker filters,
            Object[] arguments,
            long started,
            WaitingCaller caller,
            @Nullable ServerContext serving)
            throws Throwable {
        Invocation call = template.invocation(method, arguments, started, caller, serving);
        caller.begin();
        try {
            return CallTemplate.requireResponse(method, caller.await(filtered(filters, call), call, clock));
        } finally {
            caller.end();
        }
    }

    private static CompletableFuture<Response> filtered(Invoker filters, Invocation call) {
        try {
            return filters.invoke(call).toCompletableFuture();
        } catch (Throwable e) { // A filter threw an exception or returned null.
            return CompletableFuture.failedFuture(e);
        }
    }

    /**
     * Returns a {@code Mono} that makes a call for each subscription. Each call is nested in the call that the current
     * thread serves.
     */
    private Object mono(ClientMethod method, Method declared, Object[] arguments) {
        ServerContext serving = ServerContext.current();
        return Shapes.later(
                JavaShape.MONO,
                () -> callAsync(method, declared, arguments, serving == null ? ServerContext.current() : serving));
    }

    private CompletableFuture<@Nullable Object> callAsync(
            ClientMethod method, Method declared, Object[] arguments, @Nullable ServerContext serving) {
        long started = clock.nanoTime();
        CallLedger ledger = serving == null ? CallLedger.ofOtherCall() : serving.ledger();
        CallFuture<@Nullable Object> future = new CallFuture<>(executor);
        AsyncOperation operation =
                ledger.begin(Phase.RPC, () -> method.providerNames().at(future.endpoint()));
        NestedCall nested = NestedCall.begin(serving, clock, future::giveUp);
        PendingCall.Completion end = (response, failure) -> {
            if (nested != null) {
                nested.end();
            }
            end(method, declared, arguments, operation, future, response, failure, started);
        };
        try {
            if (method.filtered() == null) {
                Invocation call = template.invocation(method, arguments, started, executor, serving);
                future.passedOn(method.endpoints().callAsync(method, call, end));
            } else {
                Invocation call = template.invocation(method, arguments, started, future, serving);
                invokeFiltered(method, call, started, future, end);
            }
        } catch (Throwable e) { // The call could not be sent, for example because the served call has been cancelled.
            end.completed(null, e);
        }
        return future;
    }

    private void invokeFiltered(
            ClientMethod method,
            Invocation call,
            long started,
            CallFuture<@Nullable Object> future,
            PendingCall.Completion end) {
        FilteredCall filtered = new FilteredCall(method.endpoints(), clock, call, started, future, end);
        future.filteredBy(filtered);
        try {
            Objects.requireNonNull(method.filtered()).invoke(call).whenComplete(filtered);
        } catch (Throwable e) { // A filter threw an exception or returned null.
            filtered.accept(null, e);
        }
        if (!future.isPassedOn()) {
            filtered.watch();
        }
    }

    private void end(
            ClientMethod method,
            Method declared,
            Object[] arguments,
            AsyncOperation operation,
            CallFuture<@Nullable Object> future,
            @Nullable Response response,
            @Nullable Throwable failure,
            long started) {
        Throwable inner = failure instanceof CompletionException ? Thrown.cause(failure) : null;
        Throwable cause = inner == null ? failure : inner;
        long elapsedNanos = clock.nanoTime() - started;
        operation.end(cause == null ? null : method.providerNames().at(future.endpoint(), cause));
        method.meters().ended(cause, elapsedNanos);
        if (cause != null) {
            // If a filter threw an exception after it had passed the call on, the call is still running.
            future.giveUp();
            fail(method, declared, arguments, future, template.showTrailers(cause));
            return;
        }
        try {
            future.complete(value(CallTemplate.requireResponse(method, response)));
        } catch (Throwable e) { // A consumer of the response headers or trailers has thrown this exception.
            future.completeExceptionally(e);
        }
    }

    private void fail(
            ClientMethod method,
            Method declared,
            Object[] arguments,
            CallFuture<@Nullable Object> future,
            Throwable failure) {
        if (fallback == null || future.isDone() || !Fallback.covers(failure)) {
            future.completeExceptionally(failure);
            return;
        }
        fallback.stage(method.descriptor().responses(), declared, arguments, failure)
                .whenComplete((value, thrown) -> {
                    if (thrown == null) {
                        future.complete(value);
                    } else {
                        future.completeExceptionally(thrown);
                    }
                });
    }

    /** Sends the call as the last invoker in the filter chain, and returns the stage of its response. */
    static CompletableFuture<Response> stage(ClientMethod method, Invocation call) {
        CallFuture<Response> future = new CallFuture<>(call.executor());
        CallScope scope = call.executor() instanceof CallScope own ? own : null;
        if (scope == null) {
            method.endpoints().passedOnUnseen();
        }
        SentCall driven = method.endpoints().callAsync(method, call, (response, failure) -> {
            if (response != null) {
                future.complete(response);
            } else {
                future.completeExceptionally(Objects.requireNonNull(failure));
            }
            if (scope != null) {
                scope.answered();
            }
        });
        future.onCancel(driven::cancel);
        if (scope != null) {
            scope.passedOn(driven);
        }
        return future;
    }

    private @Nullable Object value(Response response) {
        template.showHeaders(response.headers());
        template.showTrailers(response.metadata());
        return response.value();
    }
}
