package tern.rpc.spring.autoconfigure.web;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.RunningCall;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.CallSource;
import tern.rpc.diagnosis.failure.ErrorStatus;
import tern.rpc.diagnosis.failure.WebRefusals;
import tern.rpc.metrics.CallMeters;
import tern.rpc.metrics.PhaseMeters;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.SlowCalls;

/**
 * Records web requests as calls to the {@code web} service. Each route is a method, for example {@code GET
 * /orders/{id}}. Thread-safe.
 */
final class WebCalls implements CallSource {

    private static final String SERVICE = "web";
    private static final String PROTOCOL = "http";

    /**
     * The name for requests without a route, and for requests whose route is not among the first {@link #MAX_ROUTES}.
     */
    static final String OTHERS = "others";

    /** The maximum number of routes that have their own meters. */
    private static final int MAX_ROUTES = 1_000;

    private static final Set<String> VERBS =
            Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");

    /** The name used for all verbs that are not in {@link #VERBS}. */
    private static final String OTHER_VERB = "OTHER";

    private static final int TOO_MANY_REQUESTS = 429;
    private static final int FIRST_SERVER_ERROR = 500;
    private static final int UNAVAILABLE = 503;

    /** The outcome that the meters record for failed requests. The diagnosis gets the exception itself. */
    private static final RpcException FAILED =
            RpcException.refusal(StatusCode.INTERNAL, "the answer has a status from 500", Executed.YES);

    private static final RpcException REFUSED =
            RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "the answer has the status 429 or 503", Executed.YES);

    private final ServiceKey key = new ServiceKey(SERVICE, "", "");
    private final RpcMeters meters;
    private final NanoClock clock;
    private final long targetNanos;
    private final SlowCalls slow;
    private final ConcurrentMap<String, Route> routes = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, CallMeters> streams = new ConcurrentHashMap<>();
    private final Set<Call> running = ConcurrentHashMap.newKeySet();
    private final ConcurrentMap<Integer, LongAdder> refused = new ConcurrentHashMap<>();

    WebCalls(RpcMeters meters, NanoClock clock) {
        this.meters = meters;
        this.clock = clock;
        this.targetNanos = meters.slo().latency().toNanos();
        this.slow = new SlowCalls(targetNanos, clock.nanoTime());
    }

    private record Route(MethodDescriptor method, CallMeters meters, PhaseMeters phases) {}

    /**
     * Starts a call on the thread that first serves the request.
     *
     * @param waitedNanos how long the request waited for this thread
     * @param caller returns the address of the caller; used only until the call has ended
     */
    Call begin(String verb, String path, long waitedNanos, Supplier<@Nullable String> caller) {
        Call call = new Call(verb, path, waitedNanos, caller);
        running.add(call);
        return call;
    }

    @Override
    public List<RunningCall> runningCalls() {
        long now = clock.nanoTime();
        return running.stream()
                .filter(call -> !call.isIdle())
                .map(call -> call.look(now))
                .toList();
    }

    @Override
    public Map<String, Long> refusals() {
        return refused.entrySet().stream()
                .collect(Collectors.toMap(
                        entry -> "status " + entry.getKey(),
                        entry -> entry.getValue().sum()));
    }

    private Route route(String name) {
        Route known = routes.get(name);
        if (known != null) {
            return known;
        }
        return routes.computeIfAbsent(routes.size() < MAX_ROUTES ? name : OTHERS, unknown -> {
            MethodDescriptor method = method(unknown, MethodType.UNARY);
            return new Route(method, meters.server(key, method, PROTOCOL), meters.phases(key, method));
        });
    }

    private CallMeters stream(String name) {
        CallMeters known = streams.get(name);
        if (known != null) {
            return known;
        }
        return streams.computeIfAbsent(
                streams.size() < MAX_ROUTES ? name : OTHERS,
                unknown -> meters.server(key, method(unknown, MethodType.SERVER_STREAMING), PROTOCOL));
    }

    private static MethodDescriptor method(String name, MethodType type) {
        return ServiceDescriptor.of(SERVICE, List.of(new Operation(name, type, byte[].class, byte[].class)))
                .methods()
                .get(0);
    }

    /** One web request. Only the thread that began the request may call {@link #resume} and {@link #leave}. */
    final class Call {
        private final String verb;
        private final String path;
        private final Supplier<@Nullable String> caller;
        private final long started;
        private final CallLedger ledger;
        private volatile @Nullable String pattern;
        private volatile @Nullable Supplier<@Nullable String> route; // returns the route's pattern once it is known
        private volatile boolean left;
        private volatile boolean stream;
        private volatile boolean waitsForEvent;
        private volatile boolean dropped;
        private volatile @Nullable Throwable thrown;

        private Call(String verb, String path, long waitedNanos, Supplier<@Nullable String> caller) {
            this.caller = caller;
            // Unknown verbs share one name, because a client could otherwise exhaust the limit on routes with invented
            // verbs.
            this.verb = VERBS.contains(verb) ? verb : OTHER_VERB;
            this.path = path;
            long now = clock.nanoTime();
            this.started = now - waitedNanos;
            this.ledger = CallLedger.ofReceived(clock, now, waitedNanos);
            ledger.turnTo(Phase.OWN);
        }

        CallLedger ledger() {
            return ledger;
        }

        /**
         * Makes this call the thread's current call. Returns the previous ledger, which must be passed to {@link
         * #leave}.
         */
        @Nullable
        CallLedger resume() {
            return CallLedger.replace(ledger);
        }

        /** Records that the thread stops working on the call. Another thread may end the call. */
        void leave(@Nullable CallLedger before) {
            ledger.turnTo(Phase.UNATTRIBUTED);
            left = true;
            CallLedger.replace(before);
        }

        /**
         * Sets the call's route.
         *
         * @param known the pattern of the route, such as {@code /orders/{id}}
         */
        void hasRoute(String known) {
            pattern = known;
        }

        /**
         * Sets the source of the call's route, for a server that does not report when it has chosen the route. While the
         * call is running, the route is read from this source.
         *
         * @param source returns the pattern of the route; null if the route is not known yet. Any thread may call it
         */
        void routedBy(Supplier<@Nullable String> source) {
            route = source;
        }

        /**
         * Stops recording the request, because it is for a static file or for one of Boot's own handlers, such as
         * Actuator's handlers. Such a request is not a call to the application.
         */
        void drop() {
            dropped = true;
            running.remove(this);
        }

        /**
         * Records that the response is a stream. The duration of a stream depends on the receiver and not on the
         * application.
         */
        void streams() {
            stream = true;
            running.remove(this);
        }

        /** Records that the request waits for an event, as in long polling. */
        void waitsForEvent() {
            waitsForEvent = true;
        }

        /**
         * Records an exception of the request's handler that becomes an answer. If this method is called several times,
         * the last exception counts, because it determines the answer that is sent.
         */
        void threw(Throwable failure) {
            thrown = failure;
        }

        /** Returns whether the request is waiting for an event while no thread is working on it. */
        private boolean isIdle() {
            return waitsForEvent && left && ledger.parts().isEmpty();
        }

        /**
         * Completes the call with its response. Must be called only once, on any thread.
         *
         * @param status the HTTP status of the response
         */
        void ended(int status, @Nullable Throwable failure) {
            // If the completing thread is running a task of the call, adds the task's times to the call's ledger.
            ledger.joinPresentPart();
            long now = clock.nanoTime();
            long took = now - started;
            if (!dropped) {
                count(status, failure, took, now);
            }
            ledger.end();
            // The call is removed last, so that a reader finds each call among the running calls, in the meters, or in
            // both.
            running.remove(this);
        }

        private void count(int status, @Nullable Throwable failure, long took, long now) {
            Throwable known = failure == null ? thrown : failure;
            if (DisconnectedClients.caused(known)) {
                countLeft(took, now);
                return;
            }
            boolean refusal = failure == null && isRefusal(status) && took <= targetNanos;
            boolean hidden = refusal && WebRefusals.isFailure(ledger, known);
            Throwable sent = failure != null || status >= FIRST_SERVER_ERROR || hidden ? sent(failure) : null;
            if (stream || hasWaited(took, now)) {
                stream(name()).ended(sent, took);
            } else if (refusal && !hidden) {
                refused.computeIfAbsent(status, unknown -> new LongAdder()).increment();
                route(name()).meters().ended(REFUSED, took);
            } else {
                Throwable reason = known == null ? new ErrorStatus(status) : known;
                countServed(sent == null ? null : reason, sent, took, now);
            }
        }

        private void countServed(@Nullable Throwable reason, @Nullable Throwable sent, long took, long now) {
            Route route = route(name());
            route.meters().ended(sent, took);
            slow.ended(route.method(), ledger, took, now, sent);
            route.phases().ended(ledger, now, took, reason, sent, caller);
        }

        /**
         * Counts a request whose client has disconnected. Such a request has not failed. If the request was late, it is
         * recorded as late, because this might be the reason why the client disconnected. If the request was not late,
         * the diagnosis ignores it, because the disconnect might have ended it early.
         */
        private void countLeft(long took, long now) {
            if (stream || hasWaited(took, now)) {
                stream(name()).ended(null, took);
            } else if (took > targetNanos) {
                countServed(null, null, took, now);
            } else {
                route(name()).meters().ended(null, took);
            }
        }

        /**
         * Returns the failure as the client sees it. The code of an {@code RpcException} describes a call that this
         * request made, so it does not apply to the request itself.
         */
        private static Throwable sent(@Nullable Throwable failure) {
            return failure == null || failure instanceof RpcException ? FAILED : failure;
        }

        /** Returns whether the request spent most of its time waiting for an event, without any recorded work. */
        private boolean hasWaited(long took, long now) {
            return waitsForEvent && ledger.nanos(Phase.UNATTRIBUTED, now) > took / 2;
        }

        private boolean isRefusal(int status) {
            return status == TOO_MANY_REQUESTS || status == UNAVAILABLE;
        }

        private String name() {
            String known = pattern;
            return known == null ? OTHERS : verb + ' ' + known;
        }

        private RunningCall look(long now) {
            Supplier<@Nullable String> source = route;
            String known = pattern == null && source != null ? source.get() : pattern;
            RunningCall seen =
                    ledger.look(SERVICE + '.' + verb + ' ' + (known == null ? path : known), now - started, now);
            return left ? seen.withoutThread() : seen;
        }
    }
}
