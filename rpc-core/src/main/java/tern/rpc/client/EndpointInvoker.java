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

/**
 * The last step on the client: picks a connection, sends the call, waits, and sends it again if that is safe.
 * Thread-safe.
 */
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
     * @param connect opens or shares a connection
     * @param release returns it
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
     * Starts to look for endpoints.
     *
     * @param atMost the time to wait for the first list, so that the first call finds it
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
     * Adds other addresses to the failure of the last attempt, which names one address. If no other address can be
     * reached either, up to {@value #MAX_ADDRESSES_NAMED} are added with their reasons.
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

    /** Refuses a call after the deadline of the call being served, because nobody waits for it. */
    void checkDeadline(Invocation call) {
        if (call.deadline().isExpired(clock.nanoTime())) {
            throw RpcException.refusal(
                    StatusCode.DEADLINE_EXCEEDED,
                    call + " was not sent, its time is over: " + call.deadline().origin(),
                    Executed.NO);
        }
    }

    /** Counts a call that makes its attempts itself. */
    void begun() {
        retries.called();
    }

    /** Sends the call. Its end is reported on the call's executor. */
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
     * @param number the number of the failed attempt, from 1
     * @param used the provider of that attempt
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
     * Whether another connection can take the call. An available other provider can. After UNAVAILABLE, a provider that
     * is being connected can too. The same provider can if the attempt's connection is gone, because a replacement may
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
     * The next available connection, other than {@code except} if there is one. Otherwise one that is just connecting.
     * Otherwise the next in turn, which fails the call with its own reason.
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
            chosen =
                    connections.get(current.picker().next()); // by weight, so that one neighbour does not get all calls
        }
        if (isUsable(chosen, except)) {
            return chosen;
        }
        ClientConnection connecting = null;
        for (ClientConnection candidate : connections) {
            boolean soon = candidate.isConnecting(); // read before the check of availability
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

    /** Each address with the reason why it cannot be reached, for messages. */
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
        resolver.close(); // outside the lock, for which its thread may be waiting
    }
}
