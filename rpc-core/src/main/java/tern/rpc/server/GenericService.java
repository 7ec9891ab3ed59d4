package tern.rpc.server;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.transport.BuiltInMethods;
import tern.rpc.transport.GenericException;

/**
 * The built-in methods of one exported service. Generic callers send and receive beans as maps. The declared types
 * determine which class a map is converted to.
 */
final class GenericService implements BuiltInMethods {

    private final ServiceDescriptor service;
    private final MethodHandler[] handlers;

    GenericService(ServiceDescriptor service, MethodHandler[] handlers) {
        this.service = service;
        this.handlers = handlers;
    }

    @Override
    public @Nullable Object $echo(@Nullable Object value) {
        return value;
    }

    @Override
    public @Nullable Object $invoke(String method, String @Nullable [] types, Object[] arguments) {
        return $invokeAsync(method, types, arguments).toCompletableFuture().join();
    }

    @Override
    public CompletionStage<@Nullable Object> $invokeAsync(
            String method, String @Nullable [] types, Object[] arguments) {
        MethodHandler handler = find(method, types);
        Object[] typed = typed(handler.method(), arguments);
        CompletionStage<?> stage;
        try {
            Object result = handler.last().run(typed);
            stage = result instanceof CompletionStage<?> later ? later : CompletableFuture.completedFuture(result);
        } catch (Throwable e) {
            stage = CompletableFuture.failedFuture(e);
        }
        return stage.handle((value, failure) -> {
            if (failure == null) {
                return new GenericValues().toGeneric(value);
            }
            Throwable cause = ExceptionPolicy.unwrapped(handler.last().ran(failure));
            RpcException known =
                    cause instanceof RpcException rpc ? rpc : ExceptionPolicy.securityRefusal(handler.method(), cause);
            throw known != null ? known : new GenericException(cause);
        });
    }

    private static Object[] typed(MethodDescriptor method, Object[] arguments) {
        if (arguments.length != method.parameters().size()) {
            throw RpcException.refusal(
                    StatusCode.INVALID_ARGUMENT,
                    "generic call of " + method + " has " + arguments.length + " arguments; expected "
                            + method.parameters().size(),
                    Executed.NO);
        }
        GenericValues values = new GenericValues();
        Object[] typed = new Object[arguments.length];
        for (int i = 0; i < typed.length; i++) {
            typed[i] =
                    values.toDeclared(arguments[i], method.parameters().get(i).generic());
        }
        return typed;
    }

    private MethodHandler find(String name, String @Nullable [] types) {
        List<MethodDescriptor> overloads = service.overloads(name);
        List<MethodDescriptor> fitting = types == null
                ? overloads
                : overloads.stream()
                        .filter(method -> Arrays.equals(typeNames(method), types))
                        .toList();
        if (fitting.size() == 1) {
            checkUnary(fitting.get(0));
            return Objects.requireNonNull(handlers[fitting.get(0).index()]);
        }
        throw RpcException.refusal(
                StatusCode.UNIMPLEMENTED,
                service.simpleName() + " has " + (fitting.isEmpty() ? "no method " : "several methods ") + name
                        + (types == null ? "" : Arrays.toString(types)),
                Executed.NO);
    }

    private static void checkUnary(MethodDescriptor method) {
        if (method.type() != MethodType.UNARY) {
            throw RpcException.refusal(
                    StatusCode.UNIMPLEMENTED,
                    method + " is a stream (" + method.type() + "), which cannot be called generically",
                    Executed.NO);
        }
    }

    /**
     * Returns the parameter types as Dubbo writes them: {@code java.lang.String}, {@code int},
     * {@code java.lang.String[]}.
     */
    private static String[] typeNames(MethodDescriptor method) {
        return method.parameters().stream()
                .map(type -> type.raw().getTypeName())
                .toArray(String[]::new);
    }
}
