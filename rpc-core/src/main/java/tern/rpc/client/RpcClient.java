package tern.rpc.client;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.CallOptions;
import tern.rpc.ClientFilter;
import tern.rpc.Durations;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.client.Wires.Wire;
import tern.rpc.cluster.ClusterParts;
import tern.rpc.cluster.ClusterReport;
import tern.rpc.cluster.ClusterSettings;
import tern.rpc.cluster.NodeCounts;
import tern.rpc.concurrent.DaemonThreads;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.endpoint.Rules;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.CallToken;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.Token;

/**
 * Creates proxies for remote services and owns their connections. When a proxy is created, the client starts to open
 * connections. The client waits for a connection only if the reference requires a check. Thread-safe.
 */
public final class RpcClient implements AutoCloseable {

    /** The default timeout of a call (docs/limits.md). */
    public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(3);

    private static final Logger LOG = LoggerFactory.getLogger(RpcClient.class);

    /**
     * The maximum number of callback threads. A callback that waits for another call blocks one of these threads.
     * Applications should therefore compose stages instead of waiting.
     */
    private static final int CALLBACK_THREADS = 200;

    /**
     * The maximum time that a new reference waits for its first addresses. Name resolution usually takes a few
     * milliseconds.
     */
    private static final Duration LOOK_UP = Duration.ofSeconds(1);

    /** The maximum number of simultaneous host name lookups. A name server can take seconds to answer. */
    private static final int LOOK_UP_THREADS = 4;

    private final Wires wires;
    private final List<ClientFilter> filters;
    private final Duration timeout;
    private final Duration checkTimeout;
    private final @Nullable Token token;
    private final ClusterSettings cluster;
    private final RpcMeters meters;
    private final NanoClock clock;
    private final WorkerPool callbacks;
    private final ScheduledExecutorService lookups; // an executor for tasks that may block
    private final ScheduledExecutorService clusterTimer; // an executor for tasks that do not block
    // The timer that starts the hedges. Tests can replace this timer; otherwise it is the same object as clusterTimer.
    private final ScheduledExecutorService hedgeTimer;
    private final ClusterParts parts;
    private final Map<ServiceKey, ServiceAttempts> attempts = new ConcurrentHashMap<>();
    private final List<EndpointInvoker> references = new CopyOnWriteArrayList<>();
    private volatile boolean closed;
    private final ConnectionWait connectionWait;
    private final Map<Object, EndpointInvoker> proxies = Collections.synchronizedMap(new IdentityHashMap<>());

    private RpcClient(Builder builder) {
        this.wires = new Wires(builder.transports);
        this.filters = List.copyOf(builder.filters);
        this.timeout = builder.timeout;
        this.checkTimeout = builder.checkTimeout;
        this.token = builder.token;
        this.cluster = builder.cluster;
        this.meters = builder.meters;
        this.clock = builder.clock;
        this.callbacks = WorkerPool.growing(
                CALLBACK_THREADS,
                Integer.MAX_VALUE, // Callbacks need no queue limit, because each connection limits its calls.
                builder.keepAlive,
                builder.threadFactory,
                waiting -> {});
        this.lookups = Executors.newScheduledThreadPool(LOOK_UP_THREADS, DaemonThreads.numbered("rpc-client-lookup-"));
        this.clusterTimer = newTimer();
        this.hedgeTimer = builder.timer != null ? builder.timer : clusterTimer;
        this.connectionWait = new ConnectionWait(clock, () -> closed);
        this.parts = new ClusterParts(
                clock, clusterTimer, ThreadLocalRandom.current().nextLong());
        meters.counter(RpcMeter.CLIENT_RETRIES, this, RpcClient::retries);
        NodeCounts counts = parts.counts();
        meters.counter(RpcMeter.CLIENT_EJECTIONS, counts, NodeCounts::ejections);
        meters.counter(RpcMeter.CLIENT_PROBES, counts, NodeCounts::pings, RpcMeter.PROBE, "ping");
        meters.counter(RpcMeter.CLIENT_PROBES, counts, NodeCounts::copies, RpcMeter.PROBE, "call");
        gauge(RpcMeter.CLIENT_CONNECTIONS, connection -> connection.isAvailable() ? 1 : 0);
        gauge(RpcMeter.CLIENT_IN_FLIGHT, ClientConnection::inFlight);
        gauge(RpcMeter.CLIENT_WRITE_QUEUE, ClientConnection::queuedBytes);
        meters.counter(RpcMeter.CLIENT_LATE_ANSWERS, this, client -> client.sum(ClientConnection::lateAnswers));
    }

    /**
     * Creates a timer that removes cancelled tasks immediately, because a cancelled hedge's task contains the call's
     * arguments.
     */
    static ScheduledThreadPoolExecutor newTimer() {
        ScheduledThreadPoolExecutor timer =
                new ScheduledThreadPoolExecutor(1, DaemonThreads.named("rpc-client-cluster"));
        timer.setRemoveOnCancelPolicy(true);
        return timer;
    }

    private void gauge(RpcMeter meter, ToLongFunction<ClientConnection> value) {
        meters.gauge(meter, this, client -> client.sum(value));
    }

    private double sum(ToLongFunction<ClientConnection> value) {
        return connections().stream().mapToLong(value).sum();
    }

    private @Nullable Fallback fallback(ServiceReference<?> reference) {
        return reference.fallback() == null
                ? null
                : new Fallback(reference.fallback(), attempts(reference.key()).fallbacks(), clock);
    }

    private double retries() {
        return attempts.values().stream()
                .mapToLong(service -> service.retries().retries())
                .sum();
    }

    private ServiceAttempts attempts(ServiceKey service) {
        return attempts.computeIfAbsent(service, key -> ServiceAttempts.of(key, clock, meters, hedgeTimer));
    }

    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the executor for tasks that may block, such as the host name lookups of
     * {@link tern.rpc.endpoint.DnsEndpoints}. The executor has four threads, and is shut down with this client.
     */
    public ScheduledExecutorService timer() {
        return lookups;
    }

    /** Returns the connections in use. A connection shared by several references is listed once. */
    public List<ClientConnection> connections() {
        return references.stream()
                .flatMap(reference -> reference.connections().stream())
                .distinct()
                .toList();
    }

    /**
     * A referenced service.
     *
     * @param providers the service's current providers
     * @param cluster the state of the provider list and of each provider
     * @param attempts counts the additional attempts and fallbacks of all of the client's references to the service
     */
    public record Reference(
            ServiceKey service, List<Provider> providers, ClusterReport cluster, AttemptCounts attempts) {

        /** Returns the connections to this reference's providers. */
        public List<ClientConnection> connections() {
            return providers.stream().map(Provider::connection).toList();
        }
    }

    /**
     * The counts for one service since the client started.
     *
     * @param retries the number of attempts that repeated a failed attempt
     * @param hedges the number of attempts sent to a second provider because the first attempt was slow
     * @param fallbacks the number of calls that a fallback answered because no provider accepted them
     */
    public record AttemptCounts(long retries, long hedges, long fallbacks) {}

    /**
     * Sets the rules of a reference, such as timeouts and weights, and replaces rules set by earlier calls to this
     * method. The given rules take precedence over rules from a registry, unless the given rules
     * {@linkplain Rules#yieldsToSource yield} to the registry's rules. Connections stay open.
     *
     * @param proxy a proxy that {@link #refer} returned
     * @param rules the rules; {@link Rules#NONE} to remove earlier rules
     * @throws IllegalArgumentException if the proxy does not belong to this client
     */
    public void rule(Object proxy, Rules rules) {
        endpoints(proxy).cluster().rule(rules);
    }

    private EndpointInvoker endpoints(Object proxy) {
        EndpointInvoker reference = proxies.get(proxy);
        if (reference == null) {
            throw new IllegalArgumentException("not a reference of this client");
        }
        return reference;
    }

    /** Returns the references created so far, in order of creation. */
    public List<Reference> references() {
        return references.stream()
                .map(endpoints -> new Reference(
                        endpoints.service(),
                        endpoints.providers(),
                        endpoints.cluster().report(clock.nanoTime()),
                        attempts(endpoints.service()).counts()))
                .toList();
    }

    /**
     * Creates a proxy for the service. Calls through the proxy have a timeout and pass through this client's filters.
     * By default, the proxy uses one connection to each provider.
     *
     * <p>Blocks for at most one second, until the reference's source has reported its first list of providers. If the
     * reference requires a check, also blocks until a provider is connected, for at most the
     * {@linkplain Builder#checkTimeout check timeout}.
     *
     * @throws IllegalArgumentException if the interface or a setting is invalid; the message names the method
     * @throws RpcException UNAVAILABLE if the reference requires a check and no provider can be reached; CANCELLED if
     *     the thread is interrupted during the check; the interrupt flag stays set
     * @throws IllegalStateException if this client is closed
     */
    public <T> T refer(ServiceReference<T> reference) {
        checkOpen(reference);
        ServiceDescriptor service = ServiceDescriptor.of(reference.type());
        ReferenceMethods.checkNames(reference, service);
        Wire wire = wires.of(reference);
        wire.transport().prepare(service);
        service.warnings().forEach(LOG::warn);
        EndpointInvoker endpoints = endpoints(reference, wire);
        try {
            return connected(reference, service, wire, endpoints);
        } catch (RuntimeException | Error e) {
            // The caller gets no proxy, so nothing else would close the connections.
            references.remove(endpoints);
            endpoints.close();
            if (e instanceof RejectedExecutionException) {
                checkOpen(reference); // Another thread has closed this client in the meantime.
            }
            throw e;
        }
    }

    private <T> T connected(
            ServiceReference<T> reference, ServiceDescriptor service, Wire wire, EndpointInvoker endpoints) {
        Map<Method, ClientMethod> methods = new ReferenceMethods(filters, timeout, meters)
                .of(reference, service, endpoints, attempts(reference.key()));
        references.add(endpoints);
        checkOpen(reference); // Another thread may have closed this client in the meantime.
        endpoints.cluster().start(LOOK_UP);
        if (reference.check()) {
            connectionWait.require(reference.key(), endpoints, checkTimeout);
        }
        ServiceProxy proxy = new ServiceProxy(
                reference.type(),
                methods,
                callbacks,
                new CallTemplate(reference.key(), CallOptions.none(), clock, token(reference, wire)),
                fallback(reference));
        Object made = proxy.newProxy();
        proxies.put(made, endpoints);
        return reference.type().cast(made);
    }

    private void checkOpen(ServiceReference<?> reference) {
        if (closed) {
            throw new IllegalStateException(
                    "the client is closed; " + reference.key() + " cannot be referenced any more");
        }
    }

    private @Nullable CallToken token(ServiceReference<?> reference, Wire wire) {
        Token own = reference.token() == null ? token : reference.token();
        return own == null ? null : wire.transport().carry(own);
    }

    private EndpointInvoker endpoints(ServiceReference<?> reference, Wire wire) {
        return new EndpointInvoker(
                reference.key(),
                parts.cluster(
                        reference.key().toString(),
                        ServiceDescriptor.of(reference.type()).methods().stream()
                                .map(MethodDescriptor::name)
                                .toList(),
                        reference.protocol(),
                        reference.source(),
                        wire.nodes(reference, parts),
                        reference.cluster() == null ? cluster : reference.cluster()),
                attempts(reference.key()).retries(),
                clock,
                callbacks::executeAdmitted,
                clusterTimer);
    }

    /**
     * Connects to a provider of a reference immediately, even during the pause after a failed attempt, and blocks until
     * a provider is connected. Call this when the application knows that a provider has just started.
     *
     * @param proxy a proxy that {@link #refer} returned
     * @param atMost the maximum time to block
     * @return whether a provider is connected; also false if this client is closed or the thread is interrupted
     * @throws IllegalArgumentException if the proxy does not belong to this client
     */
    public boolean connect(Object proxy, Duration atMost) {
        EndpointInvoker endpoints = endpoints(proxy);
        return connectionWait.isReached(endpoints, atMost, endpoints.cluster()::attempt);
    }

    /**
     * Fails pending calls, closes every connection and ends the client's threads. Later calls through the client's
     * proxies fail with UNAVAILABLE.
     */
    @Override
    public void close() {
        closed = true;
        references.forEach(EndpointInvoker::close);
        references.clear();
        proxies.clear();
        lookups.shutdownNow();
        hedgeTimer.shutdownNow();
        clusterTimer.shutdownNow();
        wires.close();
        callbacks.close();
    }

    /** Collects a client's settings. Not thread-safe. */
    public static final class Builder {

        private final List<ClientTransport> transports = new ArrayList<>();
        private final List<ClientFilter> filters = new ArrayList<>();
        private Duration timeout = DEFAULT_TIMEOUT;
        private Duration checkTimeout = Duration.ofSeconds(3);
        private @Nullable Token token;
        private ClusterSettings cluster = ClusterSettings.DEFAULT;
        private RpcMeters meters = RpcMeters.withoutRegistry();
        private NanoClock clock = NanoClock.SYSTEM;
        private Duration keepAlive = Duration.ofSeconds(60);
        private ThreadFactory threadFactory = DaemonThreads.numbered("rpc-callback-");
        private @Nullable ScheduledExecutorService timer;

        private Builder() {}

        /**
         * Adds a transport. The transport is closed with the client. If several transports have the same protocol, the
         * client uses and closes only the last one.
         */
        public Builder transport(ClientTransport transport) {
            transports.add(transport);
            return this;
        }

        /** Adds a filter. The filter runs inside all filters that were added earlier. */
        public Builder filter(ClientFilter filter) {
            filters.add(filter);
            return this;
        }

        /**
         * Sets the timeout for calls without a more specific timeout. The timeout covers all attempts of a call. The
         * client sends the remaining time to the server. When the timeout expires, the call fails with
         * DEADLINE_EXCEEDED. The server may still have run the call. Streams have no default timeout (see {@link
         * tern.rpc.RpcMethod#timeout()}).
         *
         * @param timeout a positive duration; the default is 3 seconds
         */
        public Builder timeout(Duration timeout) {
            this.timeout = Durations.moreThanZero("rpc.client.timeout", timeout);
            return this;
        }

        /**
         * Sets the maximum time that {@link RpcClient#refer} waits for a provider if the reference requires a check.
         *
         * @param checkTimeout the maximum wait, zero or more; the default is 3 seconds
         */
        public Builder checkTimeout(Duration checkTimeout) {
            this.checkTimeout = Durations.notNegative("rpc.client.check-timeout", checkTimeout);
            return this;
        }

        /**
         * Sets the token that the client sends with every call. If a reference has its own token, this token is not
         * sent to its providers. The token is sent as the {@code token} attachment on dubbo and as
         * {@code authorization: Bearer} on HTTP. By default, no token is sent. Use TLS, because anyone who can read the
         * bytes can read the token.
         *
         * @throws IllegalArgumentException if the token is empty or contains characters other than visible ASCII
         */
        public Builder token(Token newToken) {
            ServiceReference.check(newToken, "of the client");
            this.token = newToken;
            return this;
        }

        /** Sets how a reference chooses among its providers if the reference has no such setting. */
        public Builder cluster(ClusterSettings cluster) {
            this.cluster = cluster;
            return this;
        }

        /**
         * Sets the meters that record the client's calls. By default, the meters are not registered with a meter
         * registry.
         */
        public Builder meters(RpcMeters meters) {
            this.meters = meters;
            return this;
        }

        /** Sets the clock of deadlines and meters, for tests. The default is {@link NanoClock#SYSTEM}. */
        public Builder clock(NanoClock clock) {
            this.clock = clock;
            return this;
        }

        /**
         * Sets the factory of the threads that decode the answers of asynchronous calls and run application callbacks.
         * At most 200 threads exist at the same time. The default creates platform threads, which are daemons.
         *
         * @param keepAlive how long an idle thread stays alive; the default is 60 seconds. With zero, each task gets a
         *     new thread, which suits virtual threads
         */
        public Builder threads(ThreadFactory factory, Duration keepAlive) {
            this.threadFactory = factory;
            this.keepAlive = keepAlive;
            return this;
        }

        /** Replaces the hedging timer, for tests. The client shuts the timer down when it is closed. */
        Builder timer(ScheduledExecutorService timer) {
            this.timer = timer;
            return this;
        }

        /** Builds the client. The client opens no connection until {@link RpcClient#refer} is called. */
        public RpcClient build() {
            return new RpcClient(this);
        }
    }
}
