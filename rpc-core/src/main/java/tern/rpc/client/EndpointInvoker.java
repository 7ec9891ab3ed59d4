package tern.rpc.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
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
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;

/**
 * The last step on the client: picks a connection, sends the call, waits, and sends it again if that is safe.
 * Thread-safe.
 */
final class EndpointInvoker implements AutoCloseable {

    /** The connections of one list of endpoints. */
    private record Targets(
            List<ClientConnection> connections,
            List<Node> nodes,
            List<Instance> instances,
            @Nullable EndpointPicker picker) {}

    private static final int MAX_ADDRESSES_NAMED = 5;

    /** The picker is asked so often before all nodes are looked at. */
    private static final int MAX_TURNS = 4;

    /** A node replaces another one if the other has this many times its load. */
    private static final double CLEARLY = 1.5;

    private final ServiceKey service;
    private final EndpointSource source;
    private final EndpointPicker.Factory pickers;
    private final Function<Endpoint, ClientConnection> connect;
    private final Consumer<ClientConnection> release;
    private final RetryPolicy retries;
    private final NanoClock clock;
    private final CountDownLatch heard = new CountDownLatch(1);
    private volatile Targets targets = new Targets(List.of(), List.of(), List.of(), null);
    private boolean closed; // guarded by this

    /**
     * @param connect opens or shares a connection
     * @param release returns it
     */
    EndpointInvoker(
            ServiceKey service,
            EndpointSource source,
            EndpointPicker.Factory pickers,
            Function<Endpoint, ClientConnection> connect,
            Consumer<ClientConnection> release,
            RetryPolicy retries,
            NanoClock clock) {
        this.service = service;
        this.source = source;
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
        source.start(this::endpointsChanged);
        try {
            heard.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void endpointsChanged(EndpointSnapshot snapshot) {
        if (closed) {
            return;
        }
        List<Instance> instances = snapshot.instances();
        Map<Endpoint, Node> known = new LinkedHashMap<>();
        targets.nodes().forEach(node -> known.put(node.connection().endpoint(), node));
        List<Node> nodes = new ArrayList<>(instances.size());
        for (Instance instance : instances) {
            Node kept = known.remove(instance.endpoint());
            nodes.add(kept != null ? kept : new Node(connect.apply(instance.endpoint()), clock.nanoTime()));
        }
        targets = new Targets(
                nodes.stream().map(Node::connection).toList(),
                List.copyOf(nodes),
                instances,
                instances.isEmpty() ? null : pickers.of(instances));
        heard.countDown();
        known.values().forEach(node -> release.accept(node.connection()));
    }

    /** Sends the call and waits for its answer on this thread. */
    Response callAndWait(ClientMethod method, Invocation call) throws Throwable {
        retries.called();
        ClientConnection used = null;
        for (int attempt = 1; ; attempt++) {
            checkDeadline(call);
            Node node = pick(used);
            used = node.connection();
            long started = clock.nanoTime();
            PendingCall pending = new PendingCall(call, method.oneWay(), started, null);
            RpcException failure = null;
            node.begin(started);
            try {
                used.send(pending);
                return pending.await();
            } catch (RpcException e) {
                failure = e;
            } finally {
                ended(node, method, failure, started);
            }
            if (!again(method, call, failure, attempt, used, pending)) {
                throw withOtherAddresses(failure, used);
            }
        }
    }

    /** An attempt has ended; the node learns its outcome. */
    void ended(Node node, ClientMethod method, @Nullable RpcException failure, long startedNanos) {
        long now = clock.nanoTime();
        if (method.isStream()) {
            node.endStream(failure, now);
        } else if (method.oneWay() && failure == null) {
            node.sentOneWay();
        } else {
            node.end(failure, now - startedNanos, now, method.usualTime());
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
     * The node of the next attempt: an available one other than {@code except} that is neither silent nor ejected, if
     * there is one. The picker proposes it, and a second one by chance replaces it if that has less to do. Otherwise
     * any available one. Otherwise one that is just connecting. Otherwise the next in turn, which fails the call with
     * its own reason.
     */
    Node pick(@Nullable ClientConnection except) {
        Targets current = targets;
        List<Node> nodes = current.nodes();
        EndpointPicker picker = current.picker();
        if (picker == null) {
            source.refresh();
            throw RpcException.refusal(
                    StatusCode.UNAVAILABLE,
                    "no address of " + service + " is known; looked at "
                            + (source.toString().isEmpty() ? "an empty list" : source),
                    Executed.NO);
        }
        Node first = nodes.get(picker.next());
        if (nodes.size() == 1) {
            return first;
        }
        long now = clock.nanoTime();
        Node chosen = first;
        for (int i = 1; i < MAX_TURNS && !isGood(chosen, except, now); i++) {
            chosen = nodes.get(picker.next()); // by weight, so that one neighbour does not get all calls
        }
        if (isGood(chosen, except, now)) {
            Node other = nodes.get(ThreadLocalRandom.current().nextInt(nodes.size()));
            return other != chosen && isGood(other, except, now) && other.score(now) * CLEARLY < chosen.score(now)
                    ? other
                    : chosen;
        }
        Node good = firstOf(nodes, node -> isGood(node, except, now));
        if (good == null) {
            good = firstOf(nodes, node -> isUsable(node, except));
        }
        return good != null ? good : unavailable(nodes, except, first);
    }

    private static @Nullable Node firstOf(List<Node> nodes, Predicate<Node> wanted) {
        int start = ThreadLocalRandom.current().nextInt(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get((start + i) % nodes.size());
            if (wanted.test(node)) {
                return node;
            }
        }
        return null;
    }

    /** A node that is connecting, else the one used before, else the next in turn. */
    private Node unavailable(List<Node> nodes, @Nullable ClientConnection except, Node first) {
        Node connecting = null;
        for (Node node : nodes) {
            ClientConnection candidate = node.connection();
            boolean soon = candidate.isConnecting(); // read before the check of availability
            if (isUsable(node, except)) {
                return node;
            }
            if (candidate != except && soon) {
                connecting = node;
            }
        }
        if (connecting != null) {
            return connecting;
        }
        if (except != null && (except.isConnecting() || except.isAvailable())) {
            for (Node node : nodes) {
                if (node.connection() == except) {
                    return node;
                }
            }
        }
        source.refresh();
        return first;
    }

    private static boolean isGood(Node node, @Nullable ClientConnection except, long now) {
        return isUsable(node, except) && !node.isAvoided(now);
    }

    private static boolean isUsable(Node node, @Nullable ClientConnection except) {
        return node.connection() != except && node.connection().isAvailable();
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
                ? source + ": no address found"
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

    List<Provider> providers() {
        Targets current = targets;
        List<Provider> providers = new ArrayList<>();
        for (int i = 0; i < current.nodes().size(); i++) {
            providers.add(new Provider(
                    current.connections().get(i), current.instances().get(i).attributes()));
        }
        return providers;
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            targets.connections().forEach(release);
            targets = new Targets(List.of(), List.of(), List.of(), null);
        }
        source.close(); // outside the lock, for which its thread may be waiting
    }
}
