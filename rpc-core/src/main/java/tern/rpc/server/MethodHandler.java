package tern.rpc.server;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.Filter;
import tern.rpc.Invoker;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.ServerFilter;
import tern.rpc.metrics.CallMeters;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;

/** What to do with calls of one method of one export, worked out at start-up. */
final class MethodHandler {

    private final MethodDescriptor method;
    private final MethodInvoker last;
    private final List<ServerFilter> filters;
    private final @Nullable Invoker filtered;
    private final RpcMeters meters;
    private final PhaseMeters phases;
    private final ConcurrentMap<String, CallMeters> metersByProtocol = new ConcurrentHashMap<>(4);

    MethodHandler(MethodDescriptor method, MethodInvoker last, List<ServerFilter> filters, RpcMeters meters) {
        this.method = method;
        this.last = last;
        this.filters = filters;
        this.filtered = filters.isEmpty() ? null : Filter.chain(filters, last);
        this.meters = meters;
        this.phases = meters.phases(method);
    }

    MethodDescriptor method() {
        return method;
    }

    boolean isUnary() {
        return method.type() == MethodType.UNARY;
    }

    MethodInvoker last() {
        return last;
    }

    /** The users' filters around what a streaming call ends in. */
    Invoker filtered(Invoker stream) {
        return Filter.chain(filters, stream);
    }

    /** The users' filters around the method; null when there are none. */
    @Nullable
    Invoker filtered() {
        return filtered;
    }

    PhaseMeters phases() {
        return phases;
    }

    CallMeters meters(String protocol) {
        CallMeters known = metersByProtocol.get(protocol);
        return known != null ? known : metersByProtocol.computeIfAbsent(protocol, name -> meters.server(method, name));
    }
}
