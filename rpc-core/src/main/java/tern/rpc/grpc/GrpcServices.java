package tern.rpc.grpc;

import io.grpc.BindableService;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.JavaShape;
import tern.rpc.MethodType;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Effects;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.serialization.protobuf.SideEffects;
import tern.rpc.server.MethodBody;
import tern.rpc.server.ServiceExport;

/**
 * Exports services of grpc-java without a gRPC server. Metadata, statuses with their details, deadlines, cancellation
 * (also through {@code io.grpc.Context}), flow control and compression reach the service as it knows them. Protobuf
 * messages can be sent as JSON too; of other messages the service's own marshallers make bytes.
 *
 * <p>A service that streams faster than its caller reads waits in {@code onNext}, unless it looks at {@code isReady}
 * first. On a worker of the server that wait is limited, as {@link tern.rpc.StreamObserver} says. An exception that it throws is answered as for every other service here.
 */
public final class GrpcServices {

    private GrpcServices() {}

    /** A service under its name, without group and version. */
    public static ServiceExport export(BindableService service) {
        return export(service.bindService());
    }

    /** A service that was put together by hand, for instance with interceptors around it. */
    public static ServiceExport export(ServerServiceDefinition service) {
        return export(service, "", "", Endpoint.DEFAULT_WEIGHT);
    }

    /**
     * With group and version, which callers of Triple name in headers.
     *
     * @throws IllegalArgumentException if a method is of no known kind
     */
    public static ServiceExport export(ServerServiceDefinition service, String group, String version, int weight) {
        String name = service.getServiceDescriptor().getName();
        ScheduledExecutorService timer = timer();
        List<Operation> operations = new ArrayList<>();
        Map<String, MethodBody> bodies = new HashMap<>();
        for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
            GrpcMethod<?, ?> body = GrpcMethod.of(method, timer);
            Operation operation = operation(method.getMethodDescriptor(), body.messages());
            operations.add(operation);
            bodies.put(operation.name(), body);
        }
        return new ServiceExport(
                ServiceDescriptor.of(name, operations),
                new ServiceKey(name, group, version),
                method -> Objects.requireNonNull(bodies.get(method.name()), method::fullName),
                weight);
    }

    private static Operation operation(io.grpc.MethodDescriptor<?, ?> method, Messages<?, ?> messages) {
        String name = Objects.requireNonNull(method.getBareMethodName(), method::getFullMethodName);
        MethodType type = switch (method.getType()) {
            case UNARY -> MethodType.UNARY;
            case CLIENT_STREAMING -> MethodType.CLIENT_STREAMING;
            case SERVER_STREAMING -> MethodType.SERVER_STREAMING;
            case BIDI_STREAMING -> MethodType.BIDI_STREAMING;
            case UNKNOWN ->
                throw new IllegalArgumentException(
                        method.getFullMethodName() + " is of type UNKNOWN; expected one of gRPC's four");
        };
        return new Operation(
                name, type, messages.requestType(), messages.responseType(), JavaShape.OBSERVER, effects(method));
    }

    /** As the method says, or its {@code idempotency_level} in the {@code .proto} file, which the generator leaves out. */
    private static Effects effects(io.grpc.MethodDescriptor<?, ?> method) {
        Object descriptor = descriptor(method.getSchemaDescriptor());
        if (method.isSafe() || (descriptor != null && SideEffects.hasNone(descriptor))) {
            return Effects.NONE;
        }
        boolean idempotent = method.isIdempotent() || (descriptor != null && SideEffects.isIdempotent(descriptor));
        return idempotent ? Effects.IDEMPOTENT : Effects.ANY;
    }

    /** That of protobuf, which generated code gives by a method of grpc-protobuf; null elsewhere. */
    private static @Nullable Object descriptor(@Nullable Object schema) {
        if (schema == null) {
            return null;
        }
        try {
            Method given = schema.getClass().getMethod("getMethodDescriptor");
            given.setAccessible(true);
            return given.invoke(schema);
        } catch (ReflectiveOperationException | InaccessibleObjectException another) {
            return null;
        }
    }

    /** For the deadlines of contexts; its thread ends when there are none. */
    private static ScheduledExecutorService timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "rpc-grpc-deadlines");
            thread.setDaemon(true);
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(10, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }
}
