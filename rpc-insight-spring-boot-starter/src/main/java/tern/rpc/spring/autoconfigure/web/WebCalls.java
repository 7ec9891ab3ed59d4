package tern.rpc.spring.autoconfigure.web;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RunningCall;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.metrics.CallMeters;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;

/**
 * The web requests of an application as calls of the service {@code web}. A method is a route: {@code GET /orders/{id}}.
 * Thread-safe.
 */
final class WebCalls implements CallSource {

    private static final String SERVICE = "web";
    private static final String PROTOCOL = "http";

    /** The name of requests without a route, and of routes beyond the limit. */
    static final String OTHERS = "others";

    /** The largest number of routes with meters of their own. */
    private static final int MAX_ROUTES = 1_000;

    private static final int FIRST_SERVER_ERROR = 500;
    private static final RpcException FAILED =
            new RpcException(StatusCode.INTERNAL, "the answer has a status from 500");

    private final ServiceKey key = new ServiceKey(SERVICE, "", "");
    private final RpcMeters meters;
    private final NanoClock clock;
    private final ConcurrentMap<String, Route> routes = new ConcurrentHashMap<>();
    private final Set<Call> running = ConcurrentHashMap.newKeySet();

    WebCalls(RpcMeters meters, NanoClock clock) {
        this.meters = meters;
        this.clock = clock;
    }

    private record Route(CallMeters meters, PhaseMeters phases) {}

    /** Starts a call on the thread that begins to serve it. */
    Call begin(String verb, String path) {
        Call call = new Call(verb, path);
        running.add(call);
        return call;
    }

    @Override
    public List<RunningCall> runningCalls() {
        long now = clock.nanoTime();
        return running.stream().map(call -> call.look(now)).toList();
    }

    private Route route(String name) {
        Route known = routes.get(name);
        if (known != null) {
            return known;
        }
        return routes.computeIfAbsent(routes.size() < MAX_ROUTES ? name : OTHERS, this::newRoute);
    }

    private Route newRoute(String name) {
        MethodDescriptor method = ServiceDescriptor.of(
                        SERVICE, List.of(new Operation(name, MethodType.UNARY, byte[].class, byte[].class)))
                .methods()
                .get(0);
        return new Route(meters.server(key, method, PROTOCOL), meters.phases(key, method));
    }

    /** One request. Only the thread that began it may call {@link #resume} and {@link #leave}. */
    final class Call {
        private final String verb;
        private final String path;
        private final long started = clock.nanoTime();
        private final CallLedger ledger = new CallLedger(clock);
        private volatile boolean left;

        private Call(String verb, String path) {
            this.verb = verb;
            this.path = path;
        }

        /** Makes this the call of the current thread. Returns what {@link #leave} restores. */
        @Nullable
        CallLedger resume() {
            return CallLedger.replace(ledger);
        }

        /** The thread leaves the call, which may end on another thread. */
        void leave(@Nullable CallLedger before) {
            ledger.turnTo(Phase.UNATTRIBUTED);
            left = true;
            CallLedger.replace(before);
        }

        /**
         * The answer is complete. Any thread may call this, once.
         *
         * @param pattern the pattern of the route; null if there is none
         * @param status the status of the answer
         */
        void ended(@Nullable String pattern, int status, @Nullable Throwable failure) {
            long now = clock.nanoTime();
            Route route = route(pattern == null ? OTHERS : verb + ' ' + pattern);
            Throwable reason = failure == null && status >= FIRST_SERVER_ERROR ? FAILED : failure;
            route.meters().ended(reason, now - started);
            route.phases().ended(ledger, now, now - started, reason);
            running.remove(this); // last, so that a reader who misses the call here finds it in the meters
        }

        private RunningCall look(long now) {
            RunningCall seen = ledger.look(verb + ' ' + path, now - started, now);
            return left ? seen.withoutThread() : seen;
        }
    }
}
