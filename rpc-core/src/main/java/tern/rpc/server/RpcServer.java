package tern.rpc.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Durations;
import tern.rpc.NanoClock;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RunningCall;
import tern.rpc.ServerFilter;
import tern.rpc.concurrent.DaemonThreads;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.GradientLimit;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Refusal;
import tern.rpc.metrics.Callers;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.SlowCallRing;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.Token;

/**
 * Serves the exported services. {@link Builder#build} validates all settings. The server accepts calls from {@link
 * #start} to {@link #close}. Thread-safe.
 */
public final class RpcServer implements AutoCloseable {

    /** The default port for all protocols, which is also Dubbo's default. */
    public static final int DEFAULT_PORT = 20_880;

    private static final Logger LOG = LoggerFactory.getLogger(RpcServer.class);

    /**
     * The adaptive limit is at least ten calls plus one call per processor. With a lower limit, a processor could be
     * idle by chance, or calls from other connections could be refused.
     */
    public static final int MIN_CALLS = Runtime.getRuntime().availableProcessors() + 10;

    /**
     * The maximum of the adaptive limit, unless the sum of threads and queue capacity is larger. This maximum is large,
     * because a waiting asynchronous call needs memory but no thread. The value equals the default maximum number of
     * connections (docs/limits.md).
     */
    public static final int MAX_CALLS = 8_192;

    private enum State {
        BUILT,
        STARTED,
        DRAINING,
        CLOSED
    }

    private final ServerTransport transport;
    private final ServedTransports transports; // the builder's transport and all transports added with serve()
    private final ServerPools pools;
    private final FairWorkers fairWorkers;
    private final Limiter limiter;
    private final Dispatcher dispatcher;
    private final ServerControls controls;
    private final List<ServiceExport> exports;
    private final NanoClock clock;
    private State state = State.BUILT; // guarded by this

    private RpcServer(Builder builder) {
        this.transport = builder.transport;
        this.exports = List.copyOf(builder.exports);
        this.clock = builder.clock;
        this.transports = new ServedTransports(transport, clock);
        this.pools = new ServerPools(builder.threads, builder.queueCapacity, builder.keepAlive, builder.threadFactory);
        this.limiter = new Limiter(builder.limit(), builder.threads, clock);
        MethodLimits.check(builder.methodLimits.keySet(), exports);
        HandlerRegistry registry = new HandlerRegistry(
                exports,
                builder.filters,
                new MethodLimits(builder.methodLimits, builder.threads, clock),
                builder.meters,
                builder.genericCalls,
                builder.exceptionTexts,
                clock);
        CallLedgers ledgers = new CallLedgers(builder.ledger, builder.threads, builder.meters.slo(), clock);
        WorkerPool forMethods = pools.methodReserve();
        MethodReserve methodReserve =
                forMethods == null ? null : new MethodReserve(forMethods, builder.threads, registry);
        this.fairWorkers = new FairWorkers(pools.workers(), pools.spare(), methodReserve, limiter, clock);
        CallGate gate = new CallGate(new AcceptedTokens(builder.tokens), builder.authorizers, clock);
        this.dispatcher = new Dispatcher(
                registry,
                gate,
                limiter,
                fairWorkers,
                new ReservedWorkers(pools.reserve()),
                methodReserve,
                new StreamThreads(pools.callbacks(), pools.spareCallbacks()),
                new StreamWaits(builder.maxStreamWait, pools.all()),
                builder.maxQueueWait,
                builder.meters,
                ledgers,
                new ThreadState(builder.clears),
                clock);
        this.controls = new ServerControls(limiter, builder::defaultLimit, registry, dispatcher, clock);
        for (ServiceExport export : exports) {
            transport.prepare(export.service());
            export.service().warnings().forEach(LOG::warn);
        }
        registerMeters(builder.meters);
    }

    private void registerMeters(RpcMeters meters) {
        meters.gauge(RpcMeter.SERVER_WORKERS_ACTIVE, fairWorkers, FairWorkers::active);
        meters.gauge(RpcMeter.SERVER_WORKERS_QUEUED, pools.workers(), WorkerPool::queued);
        meters.gauge(RpcMeter.SERVER_WORKERS_LIMIT, pools.workers(), WorkerPool::maxThreads);
        meters.counter(RpcMeter.SERVER_DENIED, dispatcher.gate(), CallGate::refused);
        meters.gauge(RpcMeter.SERVER_CONCURRENCY, limiter, Limiter::inside);
        meters.gauge(RpcMeter.SERVER_CONCURRENCY_LIMIT, limiter, Limiter::limit);
        transports.register(meters);
    }

    /** @param transport receives the calls; closed with the server */
    public static Builder builder(ServerTransport transport) {
        return new Builder(transport);
    }

    /**
     * Starts accepting calls.
     *
     * @throws java.io.UncheckedIOException if the port cannot be bound
     * @throws IllegalStateException if the server has been started or closed before
     */
    public synchronized void start() {
        if (state != State.BUILT) {
            throw new IllegalStateException("an RPC server starts once; this one is " + state);
        }
        transport.start(dispatcher);
        state = State.STARTED;
    }

    /**
     * Serves calls from an additional transport immediately, even before {@link #start}. When the server is closed, it
     * also closes the transport. Draining waits for this transport's calls but does not refuse new calls, because the
     * calls that are still being served may make in-memory calls. Does nothing if the transport is already served.
     *
     * @throws IllegalStateException if the server was closed
     */
    public synchronized void serve(ServerTransport another) {
        if (state == State.CLOSED) {
            throw new IllegalStateException("the RPC server was closed");
        }
        if (transports.contains(another)) {
            return;
        }
        exports.forEach(export -> another.prepare(export.service()));
        another.start(dispatcher);
        transports.add(another);
    }

    /** Returns the port that the server listens on, or 0 before the start. */
    public int port() {
        return transport.port();
    }

    /** Returns the exported services in the order in which they were added. */
    public List<ServiceExport> exports() {
        return exports;
    }

    /**
     * Returns the regular worker threads, without the spare threads and the threads reserved for some methods and
     * services.
     */
    public WorkerPool workers() {
        return pools.workers();
    }

    /**
     * Returns the running calls with their current phases, without streams. Returns an empty list if calls have no
     * ledgers.
     */
    public List<RunningCall> runningCalls() {
        return dispatcher.ledgers().running();
    }

    /**
     * Returns the number of calls refused since the start, by {@link Refusal#key()}. A refused call's method did not
     * run.
     */
    public Map<String, Long> refusals() {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (Refusal reason : Refusal.values()) {
            counts.put(reason.key(), dispatcher.refusals().of(reason));
        }
        return counts;
    }

    /**
     * Returns the last calls that missed the latency target, newest first, or an empty list if calls have no ledgers.
     */
    public List<SlowCallRing.SlowCall> slowCalls() {
        return dispatcher.ledgers().lastSlow().newestFirst();
    }

    /** Returns the callers with their numbers of calls, highest number first. */
    public List<Callers.Caller> callers() {
        return dispatcher.callers().mostCallsFirst(clock.nanoTime());
    }

    /** Returns the number of received calls that have not been answered. */
    public int inFlight() {
        return (int) transports.sum(ServerTransport::inFlight);
    }

    /** Returns the object for changing the server's limits at run time. */
    public ServerControls controls() {
        return controls;
    }

    /** Returns the number of connected clients. */
    public int connections() {
        return (int) transports.sum(ServerTransport::connections);
    }

    /** Returns the number of connections that clients have opened since the start, or -1 if it is unknown. */
    public long acceptedConnections() {
        return transport.acceptedConnections();
    }

    /**
     * Stops accepting connections and asks clients to use another server. Blocks until all connections are closed and
     * no call is in flight, or until the server has been idle for two seconds (no call in flight, no new call and no
     * unsent answer). Calls that arrive in the meantime are served. Then blocks for up to two seconds until the
     * answered calls are in the meters. After that, the application may close the meters. Has no effect unless the
     * server is started.
     *
     * @param atMost the maximum time to block
     */
    public void drain(Duration atMost) {
        synchronized (this) {
            if (state != State.STARTED) {
                return;
            }
            state = State.DRAINING;
        }
        transport.drain();
        transports.awaitQuiet(atMost);
        dispatcher.ledgers().awaitCounts(atMost);
    }

    /**
     * Closes the server and its transports immediately, without draining. All running calls except one-way calls are
     * cancelled. Does not wait for their methods to return. A second call has no effect.
     */
    @Override
    public void close() {
        synchronized (this) {
            if (state == State.CLOSED) {
                return;
            }
            state = State.CLOSED;
        }
        transports.close();
        pools.close();
    }

    /** Collects a server's settings. Not thread-safe. */
    public static final class Builder {

        private final ServerTransport transport;
        private final List<ServiceExport> exports = new ArrayList<>();
        private final List<ServerFilter> filters = new ArrayList<>();
        private final List<Token> tokens = new ArrayList<>();
        private final List<RpcAuthorizer> authorizers = new ArrayList<>();
        private int threads = 200;
        private int queueCapacity = 400;
        private Duration maxQueueWait = Duration.ofMillis(50);
        private Duration maxStreamWait = Duration.ofSeconds(1);
        private @Nullable Supplier<Limit> limit;
        private final Map<MethodLimits.Key, Supplier<Limit>> methodLimits = new LinkedHashMap<>();
        private Duration keepAlive = Duration.ofSeconds(60);
        private ThreadFactory threadFactory = DaemonThreads.numbered("rpc-worker-");
        private boolean genericCalls;
        private boolean exceptionTexts;
        private boolean ledger = true;
        private final List<Runnable> clears = new ArrayList<>();
        private RpcMeters meters = RpcMeters.withoutRegistry();
        private NanoClock clock = NanoClock.SYSTEM;

        private Builder(ServerTransport transport) {
            this.transport = transport;
        }

        /** Adds a service. {@link #build} throws an exception if two services have the same key. */
        public Builder export(ServiceExport export) {
            exports.add(export);
            return this;
        }

        /** Returns the services added so far. */
        public List<ServiceExport> exports() {
            return List.copyOf(exports);
        }

        /** Adds a filter. The filter runs inside all filters added earlier. */
        public Builder filter(ServerFilter filter) {
            filters.add(filter);
            return this;
        }

        /**
         * Sets how many calls may run concurrently, and how many may wait. The server has some more threads than the
         * given number. While all regular threads are busy, spare threads serve tenants (callers) whose calls occupy
         * few threads. There is one spare thread for every four regular threads, but there are at least four. There are
         * never more spare threads than regular threads. With only one regular thread, there are no spare threads. One
         * thread for every eight regular threads is reserved for methods whose calls occupy few threads. Additional
         * threads serve critical services: one for every twenty regular threads, but at least one. Stream callbacks run
         * on a separate pool of the same size. All threads are created when needed.
         *
         * @param threads the number of threads, at least 1; 200 by default
         * @param queueCapacity the number of calls that may wait, at least 0; 400 by default
         */
        public Builder workers(int threads, int queueCapacity) {
            this.threads = threads;
            this.queueCapacity = queueCapacity;
            return this;
        }

        /**
         * Limits the number of admitted calls. An admitted call has a worker, waits for a worker, or continues without
         * a worker until an asynchronous method completes it. The default is an adaptive limit between {@link
         * #MIN_CALLS} and {@link #MAX_CALLS}.
         *
         * @param chosen creates the limit; called once
         */
        public Builder limit(Supplier<Limit> chosen) {
            this.limit = chosen;
            return this;
        }

        private Limit limit() {
            return limit == null ? defaultLimit() : limit.get();
        }

        private Limit defaultLimit() {
            int max = (int) Math.min(Integer.MAX_VALUE, Math.max(MAX_CALLS, (long) threads + queueCapacity));
            return new GradientLimit(Math.min(MIN_CALLS, max), max);
        }

        /**
         * Limits the number of running calls to one method, for all overloads and exports together. By default there is
         * no limit. A call is counted until it has been answered and its worker has finished.
         *
         * @param service the interface name; {@link #build} throws an exception if it is not exported or has no
         *     such method
         * @param chosen creates the limit; called once
         */
        public Builder limit(String service, String method, Supplier<Limit> chosen) {
            methodLimits.put(new MethodLimits.Key(service, method), chosen);
            return this;
        }

        /**
         * Limits the time that a call may wait for a worker. After this time, the call is refused, and the failure says
         * that the call was not executed.
         *
         * @param wait the maximum wait, more than zero; the default is 50 ms
         */
        public Builder maxQueueWait(Duration wait) {
            this.maxQueueWait = Durations.moreThanZero("rpc.server.max-queue-wait", wait);
            return this;
        }

        /**
         * Limits the time that a worker may block in {@code onNext} because the reader of a stream is slow. The default
         * is 1 s. The limit applies to the sum of a stream's waits. For every 32 KiB that the caller reads, the worker
         * may wait for the full time again. Unused time is kept until the caller next reports what it has read, up to
         * 17 times the limit. HTTP/2 callers usually report the bytes that they have read when these bytes fill half of
         * the flow-control window. Once the limit is reached, the transport buffers a limited number of bytes and then
         * ends the stream with RESOURCE_EXHAUSTED. Threads that are not workers may block until the call ends.
         *
         * @param wait the maximum wait, zero or more
         */
        public Builder maxStreamWait(Duration wait) {
            this.maxStreamWait = Durations.notNegative("rpc.limits.max-stream-wait", wait);
            return this;
        }

        /**
         * Sets the factory of worker threads. The default creates platform threads, which are daemons.
         *
         * @param keepAlive how long an idle thread stays alive; the default is 60 seconds. Zero creates a thread for
         *     each task, which suits virtual threads
         */
        public Builder threads(ThreadFactory factory, Duration keepAlive) {
            this.threadFactory = factory;
            this.keepAlive = keepAlive;
            return this;
        }

        /**
         * Accepts callers that send the given token, in addition to the tokens added earlier. Calls to the health
         * service need no token. If no token is added, every caller is accepted.
         */
        public Builder token(Token accepted) {
            tokens.add(accepted);
            return this;
        }

        /** Adds an authorizer. The authorizer is called after the authorizers added earlier. */
        public Builder authorizer(RpcAuthorizer authorizer) {
            authorizers.add(authorizer);
            return this;
        }

        /**
         * Adds an action that clears any state that a call can leave on a server thread, such as a security context in
         * a {@link ThreadLocal}. The action runs before and after each call and each stream callback, on the same
         * thread, and must be fast. SLF4J's MDC is always cleared.
         */
        public Builder clearThreads(Runnable clear) {
            clears.add(clear);
            return this;
        }

        /** Sets whether the server accepts generic calls, such as {@code $invoke}. The default is false. */
        public Builder genericCalls(boolean allowed) {
            this.genericCalls = allowed;
            return this;
        }

        /**
         * Sets whether callers get the messages of exceptions whose classes they do not have. Exception messages can
         * contain SQL or other internals. The default is false: callers get the class name and an id, and the server
         * logs the exception with this id. The serializer has its own setting for exception causes.
         */
        public Builder exceptionTexts(boolean sent) {
            this.exceptionTexts = sent;
            return this;
        }

        /** Sets whether each call has a {@link tern.rpc.CallLedger} that records its time. The default is true. */
        public Builder ledger(boolean enabled) {
            this.ledger = enabled;
            return this;
        }

        /**
         * Sets the meters that record the server's calls. By default, the meters are not registered with a meter
         * registry.
         */
        public Builder meters(RpcMeters meters) {
            this.meters = meters;
            return this;
        }

        /** Sets the clock of deadlines, limits and meters, for tests. The default is {@link NanoClock#SYSTEM}. */
        public Builder clock(NanoClock clock) {
            this.clock = clock;
            return this;
        }

        /**
         * Builds the server. The server accepts no calls until {@link RpcServer#start} is called.
         *
         * @throws IllegalArgumentException if a service cannot be served or a setting is invalid; the message names the
         *     service or the setting and the reason
         */
        public RpcServer build() {
            return new RpcServer(this);
        }
    }
}
