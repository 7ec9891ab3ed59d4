package tern.rpc.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.NanoClock;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointPicker;
import tern.rpc.endpoint.EndpointResolver;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/** The last step on the client: pick a connection, send, wait, and send again where that is safe. Thread-safe. */
final class EndpointInvoker implements AutoCloseable {

    /** The connections of one list of endpoints. */
    private record Targets(
            List<ClientConnection> connections, @Nullable EndpointPicker picker) {}

    private static final int MAX_ADDRESSES_NAMED = 5;

    private final ServiceKey service;
    private final EndpointResolver resolver;
    private final EndpointPicker.Factory pickers;
    private final Function<Endpoint, ClientConnection> connect;
    private final Consumer<ClientConnection> release;
    private final RetryPolicy retries;
    private final NanoClock clock;
    private final CountDownLatch resolved = new CountDownLatch(1);
    private volatile Targets targets = new Targets(List.of(), null);
    private boolean closed; // guarded by this

    /**
     * @param connect opens, or shares, a connection
     * @param release gives it back
     */
    EndpointInvoker(
            ServiceKey service,
            EndpointResolver resolver,
            EndpointPicker.Factory pickers,
            Function<Endpoint, ClientConnection> connect,
            Consumer<ClientConnection> release,
            RetryPolicy retries,
            NanoClock clock) {
        this.service = service;
        this.resolver = resolver;
        this.pickers = pickers;
        this.connect = connect;
        this.release = release;
        this.retries = retries;
        this.clock = clock;
    }

    /**
     * Begins to look for endpoints.
     *
     * @param atMost how long to wait for the first list, so that the first call finds it
     */
    void start(Duration atMost) {
        resolver.start(this::endpointsChanged);
        try {
            resolved.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void endpointsChanged(List<Endpoint> endpoints) {
        if (closed) {
            return;
        }
        Map<Endpoint, ClientConnection> known = new LinkedHashMap<>();
        targets.connections().forEach(connection -> known.put(connection.endpoint(), connection));
        List<ClientConnection> connections = new ArrayList<>(endpoints.size());
        for (Endpoint endpoint : endpoints) {
            ClientConnection kept = known.remove(endpoint);
            connections.add(kept != null ? kept : connect.apply(endpoint));
        }
        targets = new Targets(List.copyOf(connections), endpoints.isEmpty() ? null : pickers.of(endpoints));
        resolved.countDown();
        known.values().forEach(release);
    }

    /** Sends the call and waits for its answer on this thread. */
    Response callAndWait(ClientMethod method, Invocation call) throws Throwable {
        retries.called();
        ClientConnection used = null;
        for (int attempt = 1; ; attempt++) {
            checkDeadline(call);
            used = pick(used);
            PendingCall pending = new PendingCall(call, method.oneWay(), clock.nanoTime(), null);
            used.send(pending);
            try {
                return pending.await();
            } catch (RpcException e) {
                if (!again(method, call, e, attempt, used, pending)) {
                    throw withOtherAddresses(e, used);
                }
            }
        }
    }

    /**
     * The failure of the last attempt names one address. Where no other one can be reached either, they and their reasons
     * are added, {@value #MAX_ADDRESSES_NAMED} at most.
     */
    RpcException withOtherAddresses(RpcException failure, ClientConnection used) {
        List<ClientConnection> others = targets.connections().stream()
                .filter(connection -> connection != used)
                .toList();
        if (failure.code() != StatusCode.UNAVAILABLE
                || failure.wasExecuted() != Executed.NO
                || others.isEmpty()
                || used.isAvailable()
                || others.stream().anyMatch(ClientConnection::isAvailable)) {
            return failure;
        }
        int more = others.size() - MAX_ADDRESSES_NAMED;
        String text = failure.status().description() + "; the " + (others.size() + 1)
                + " addresses are all out of reach, also "
                + others.stream()
                        .limit(MAX_ADDRESSES_NAMED)
                        .map(EndpointInvoker::withReason)
                        .collect(Collectors.joining(", "))
                + (more > 0 ? " and " + more + " more" : "");
        return RpcException.refusal(StatusCode.UNAVAILABLE, text, Executed.NO);
    }

    private static String withReason(ClientConnection connection) {
        String reason = connection.lastFailure();
        return connection.endpoint() + (reason.isEmpty() ? "" : " (" + reason + ")");
    }

    /** A service that goes on after its own deadline must not start calls that nobody waits for. */
    void checkDeadline(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " was not sent, its time is over: " + call.deadline().origin(),
                    Executed.NO);
        }
    }

    /** A call begins that makes its attempts itself. */
    void begun() {
        retries.called();
    }

    /** Sends the call; the end is told on the call's executor. */
    AsyncCall callAsync(ClientMethod method, Invocation call, PendingCall.Completion done) {
        retries.called();
        AsyncCall async = new AsyncCall(this, method, call, done);
        async.attempt();
        return async;
    }

    PendingCall pending(ClientMethod method, Invocation call, PendingCall.Completion completion) {
        return new PendingCall(call, method.oneWay(), clock.nanoTime(), completion);
    }

    /**
     * @param number of the attempt that failed, from 1
     * @param used the provider that the attempt was sent to
     */
    boolean again(
            ClientMethod method,
            Invocation call,
            RpcException failure,
            int number,
            ClientConnection used,
            PendingCall attempt) {
        return retries.again(
                method,
                failure,
                number,
                canGoElsewhere(failure, used, attempt),
                call.deadline().remainingNanos(clock.nanoTime()));
    }

    /**
     * Another provider that is available may take the call. After UNAVAILABLE, so may a provider that is being connected
     * to. The same provider may take it if the connection that carried the attempt is gone, because its replacement can
     * be ready before the caller sees the failure.
     */
    private boolean canGoElsewhere(RpcException failure, ClientConnection used, PendingCall attempt) {
        boolean unavailable = failure.code() == StatusCode.UNAVAILABLE;
        boolean sameProvider = unavailable && attempt.isCarrierGone();
        for (ClientConnection candidate : targets.connections()) {
            if (unavailable && candidate.isConnecting()) {
                return true;
            }
            if (candidate.isAvailable() && (sameProvider || candidate != used)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The next available connection, another than {@code except} if there is one; else one that is just connecting; else
     * the next in turn, which will fail the call with its own reason.
     */
    ClientConnection pick(@Nullable ClientConnection except) {
        Targets current = targets;
        List<ClientConnection> connections = current.connections();
        if (current.picker() == null) {
            resolver.refresh();
            throw RpcException.refusal(
                    StatusCode.UNAVAILABLE,
                    "no address of " + service + " is known; looked at "
                            + (resolver.toString().isEmpty() ? "an empty list" : resolver),
                    Executed.NO);
        }
        int first = current.picker().next();
        ClientConnection chosen = connections.get(first);
        for (int i = 1; i < connections.size() && !isUsable(chosen, except); i++) {
            chosen = connections.get(current.picker().next()); // by weight, so that one neighbour does not get it all
        }
        if (isUsable(chosen, except)) {
            return chosen;
        }
        ClientConnection connecting = null;
        for (ClientConnection candidate : connections) {
            boolean soon = candidate.isConnecting(); // asked first, or it might be neither
            if (isUsable(candidate, except)) {
                return candidate;
            }
            if (candidate != except && soon) {
                connecting = candidate;
            }
        }
        if (connecting != null) {
            return connecting;
        }
        if (except != null && (except.isConnecting() || except.isAvailable())) {
            return except;
        }
        resolver.refresh();
        return connections.get(first);
    }

    private static boolean isUsable(ClientConnection candidate, @Nullable ClientConnection except) {
        return candidate != except && candidate.isAvailable();
    }

    boolean isAvailable() {
        return targets.connections().stream().anyMatch(ClientConnection::isAvailable);
    }

    boolean isConnecting() {
        return targets.connections().stream().anyMatch(ClientConnection::isConnecting);
    }

    /** For messages: each address with the reason why it cannot be reached. */
    String failures() {
        return targets.connections().isEmpty()
                ? resolver + ": no address found"
                : targets.connections().stream()
                        .map(connection -> connection.endpoint() + ": " + connection.lastFailure())
                        .collect(Collectors.joining("; "));
    }

    ServiceKey service() {
        return service;
    }

    List<ClientConnection> connections() {
        return targets.connections();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            targets.connections().forEach(release);
            targets = new Targets(List.of(), null);
        }
        resolver.close(); // without the lock, which its thread may be waiting for
    }
}
