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
import tern.rpc.concurrent.DaemonThreads;
import tern.rpc.endpoint.Attributes;
import tern.rpc.serialization.protobuf.SideEffects;
import tern.rpc.server.MethodBody;
import tern.rpc.server.ServiceExport;

/**
 * Exports grpc-java services without a gRPC server. For the service, metadata, statuses with details, deadlines,
 * cancellation (including {@code io.grpc.Context}), flow control and compression work as in a gRPC server. Protobuf
 * messages can also be sent as JSON; the service's own marshallers encode all other messages.
 *
 * <p>If a service streams faster than its caller reads, {@code onNext} blocks, unless the service checks
 * {@code isReady} first. On the server's worker threads, this wait is limited, see {@link tern.rpc.StreamObserver}.
 * Exceptions thrown by the service are handled like the exceptions of any other service.
 */
public final class GrpcServices {

    private GrpcServices() {}

    /** Exports a service under its name, without a group or version. */
    public static ServiceExport export(BindableService service) {
        return export(service.bindService());
    }

    /** Exports a service definition, which can include interceptors. */
    public static ServiceExport export(ServerServiceDefinition service) {
        return export(service, "", "", Attributes.DEFAULT_WEIGHT);
    }

    /**
     * Exports a service with a group and a version. Triple callers send both values in headers.
     *
     * @throws IllegalArgumentException if a method has an unknown type
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

    /**
     * Returns the side effects declared by the method's attributes. If no attribute is set, reads the
     * {@code idempotency_level} option from the {@code .proto} file, because grpc-java does not copy this option into
     * its generated code.
     */
    private static Effects effects(io.grpc.MethodDescriptor<?, ?> method) {
        Object descriptor = descriptor(method.getSchemaDescriptor());
        if (method.isSafe() || (descriptor != null && SideEffects.hasNone(descriptor))) {
            return Effects.NONE;
        }
        boolean idempotent = method.isIdempotent() || (descriptor != null && SideEffects.isIdempotent(descriptor));
        return idempotent ? Effects.IDEMPOTENT : Effects.ANY;
    }

    /** Returns the protobuf descriptor from the schema of generated code; null for other code. */
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

    /** Returns the timer for context deadlines. The timer's thread ends when no deadline is pending. */
    private static ScheduledExecutorService timer() {
        ScheduledThreadPoolExecutor timer =
                new ScheduledThreadPoolExecutor(1, DaemonThreads.named("rpc-grpc-deadlines"));
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(10, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }
}
