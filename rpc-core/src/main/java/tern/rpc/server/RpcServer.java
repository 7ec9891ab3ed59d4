package tern.rpc.server;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RpcAuthorizer;
import tern.rpc.RunningCall;
import tern.rpc.ServerFilter;
import tern.rpc.concurrent.WorkerPool;
import tern.rpc.limit.GradientLimit;
import tern.rpc.limit.Limit;
import tern.rpc.limit.Limiter;
import tern.rpc.metrics.RpcMeter;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.Token;

/**
 * Serves exported services. Everything is checked when it is built; it accepts calls from {@link #start} to
 * {@link #close}. Thread-safe.
 */
public final class RpcServer implements AutoCloseable {

    /** The port of every protocol, Dubbo's. */
    public static final int DEFAULT_PORT = 20_880;

    private static final Logger LOG = LoggerFactory.getLogger(RpcServer.class);

    /** How long nothing may happen before a drained server counts as quiet. */
    private static final Duration QUIET = Duration.ofSeconds(2);

    /** One worker of so many more is kept for critical services, and a short queue (docs/limits.md). */
    private static final int KEPT_FOR_CRITICAL = 20;

    private static final int QUEUED_PER_KEPT = 16;

    private static final Duration LOOK_EVERY = Duration.ofMillis(20);

    /**
     * An adaptive limit never goes below: a call for each processor, and ten more, so that chance neither leaves a
     * processor without work nor calls of other connections without a place.
     */
    public static final int MIN_CALLS = Runtime.getRuntime().availableProcessors() + 10;

    /**
     * An adaptive limit goes up to here, or to threads and queue together: asynchronous calls need no thread while they
     * wait, but memory. As many as there may be connections (docs/limits.md).
     */
    public static final int MAX_CALLS = 8_192;

    private enum State {
        BUILT,
        STARTED,
        DRAINING,
        CLOSED
    }

    private final ServerTransport transport;
    private final List<ServerTransport> transports = new CopyOnWriteArrayList<>(); // that above and those of serve()
    private final WorkerPool workers;
    private final @Nullable WorkerPool spare;
    private final WorkerPool reserve;
    private final WorkerPool callbacks;
    private final @Nullable WorkerPool spareCallbacks;
    private final FairWorkers fairWorkers;
    private final Limiter limiter;
    private final Dispatcher dispatcher;
    private final List<ServiceExport> exports;
    private final NanoClock clock;
    private State state = State.BUILT; // guarded by this

    private RpcServer(Builder builder) {
        this.transport = builder.transport;
        this.exports = List.copyOf(builder.exports);
        this.clock = builder.clock;
        this.workers = new WorkerPool(builder.threads, builder.queueCapacity, builder.keepAlive, builder.threadFactory);
        int beside = FairWorkers.spareThreads(builder.threads);
        this.spareCallbacks =
                beside == 0 ? null : new WorkerPool(beside, beside, builder.keepAlive, builder.threadFactory);
        this.spare = beside == 0 ? null : new WorkerPool(beside, beside, builder.keepAlive, builder.threadFactory);
        this.fairWorkers = new FairWorkers(workers, spare, clock);
        // Threads of their own, since a method that waits for its requests keeps its worker meanwhile.
        this.callbacks =
                new WorkerPool(builder.threads, builder.queueCapacity, builder.keepAlive, builder.threadFactory);
        int kept = Math.max(1, builder.threads / KEPT_FOR_CRITICAL);
        this.reserve = new WorkerPool(kept, kept * QUEUED_PER_KEPT, builder.keepAlive, builder.threadFactory);
        this.limiter = new Limiter(builder.limit(), builder.threads, clock);
        HandlerRegistry registry = new HandlerRegistry(
                exports,
                builder.filters,
                new MethodLimits(builder.checkedMethodLimits(), builder.threads, clock),
                builder.meters,
                builder.genericCalls,
                builder.exceptionTexts,
                clock);
        CallLedgers ledgers = new CallLedgers(builder.ledger, builder.threads, builder.meters.slo(), clock);
        CallGate gate = new CallGate(new AcceptedTokens(builder.tokens), builder.authorizers, clock);
        this.dispatcher = new Dispatcher(
                registry,
                gate,
                limiter,
                fairWorkers,
                reserve,
                new StreamThreads(callbacks, spareCallbacks),
                new StreamWaits(
                        builder.maxStreamWait,
                        (spare == null || spareCallbacks == null)
                                ? List.of(workers, reserve, callbacks)
                                : List.of(workers, spare, reserve, callbacks, spareCallbacks)),
                builder.maxQueueWait,
                builder.meters,
                ledgers,
                new ThreadState(builder.clears),
                builder.onRefusal,
                clock);
        transports.add(transport);
        for (ServiceExport export : exports) {
            transport.prepare(export.service());
            export.service().warnings().forEach(LOG::warn);
        }
        registerMeters(builder.meters);
    }

    private void registerMeters(RpcMeters meters) {
        meters.gauge(RpcMeter.SERVER_WORKERS_ACTIVE, fairWorkers, FairWorkers::active);
        meters.gauge(RpcMeter.SERVER_WORKERS_QUEUED, workers, WorkerPool::queued);
        meters.gauge(RpcMeter.SERVER_WORKERS_LIMIT, workers, WorkerPool::maxThreads);
        meters.counter(RpcMeter.SERVER_DENIED, dispatcher.gate(), CallGate::refused);
        meters.gauge(RpcMeter.SERVER_CONCURRENCY, limiter, Limiter::inside);
        meters.gauge(RpcMeter.SERVER_CONCURRENCY_LIMIT, limiter, Limiter::limit);
        meters.gauge(RpcMeter.SERVER_CONNECTIONS, this, server -> server.sum(ServerTransport::connections));
        meters.gauge(RpcMeter.SERVER_IN_FLIGHT, this, server -> server.sum(ServerTransport::inFlight));
        meters.gauge(RpcMeter.SERVER_WRITE_QUEUE, this, server -> server.sum(ServerTransport::queuedBytes));
        meters.gauge(RpcMeter.SERVER_INBOUND, this, server -> server.sum(ServerTransport::inboundBytes));
        meters.gauge(RpcMeter.SERVER_UNSENT, this, server -> server.sum(ServerTransport::unsentBytes));
        meters.counter(RpcMeter.SERVER_STREAMS_STALLED, this, server -> server.sum(ServerTransport::stalledStreams));
    }

    private long sum(ToLongFunction<ServerTransport> count) {
        long sum = 0;
        for (ServerTransport each : transports) {
            sum += count.applyAsLong(each);
        }
        return sum;
    }

    /** @param transport where calls come from; closed with the server */
    public static Builder builder(ServerTransport transport) {
        return new Builder(transport);
    }

    /**
     * Begins to accept calls.
     *
     * @throws java.io.UncheckedIOException if the port cannot be bound
     */
    public synchronized void start() {
        if (state != State.BUILT) {
            throw new IllegalStateException("an RPC server starts once; this one is " + state);
        }
        transport.start(dispatcher);
        state = State.STARTED;
    }

    /**
     * Serves the calls of another transport, too: from now on, even before {@link #start}, until the server is closed,
     * which closes the transport. Draining does not refuse its calls but waits for those in flight: in memory they come
     * from calls that are being served. Nothing happens if it is served already.
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

    /** The port that was bound; 0 before the start. */
    public int port() {
        return transport.port();
    }

    public List<ServiceExport> exports() {
        return exports;
    }

    public WorkerPool workers() {
        return workers;
    }

    /** The calls that run at present, with what each of them does; none when no ledgers are kept. */
    public List<RunningCall> runningCalls() {
        return dispatcher.ledgers().running();
    }

    /** Peers connected at present. */
    public int connections() {
        return (int) sum(ServerTransport::connections);
    }

    /**
     * Stops accepting connections, asks callers to go elsewhere, and waits until all are gone or nothing happened for
     * two seconds. Calls that come meanwhile are served. Blocks.
     *
     * @param atMost when to stop waiting
     */
    public void drain(Duration atMost) {
        synchronized (this) {
            if (state != State.STARTED) {
                return;
            }
            state = State.DRAINING;
        }
        transport.drain();
        long end = clock.nanoTime() + atMost.toNanos();
        long quietSince = clock.nanoTime();
        long seen = sum(ServerTransport::received);
        while (connections() > 0 && clock.nanoTime() - end < 0) {
            if (sum(ServerTransport::inFlight) > 0 || sum(ServerTransport::received) != seen) {
                seen = sum(ServerTransport::received);
                quietSince = clock.nanoTime();
            } else if (clock.nanoTime() - quietSince >= QUIET.toNanos()) {
                return;
            }
            LockSupport.parkNanos(LOOK_EVERY.toNanos());
        }
        if (sum(ServerTransport::inFlight) > 0) {
            LOG.warn(
                    "{} calls were still running after {} of draining (set by rpc.server.shutdown-timeout)",
                    sum(ServerTransport::inFlight),
                    atMost);
        }
    }

    /** Closes at once, without draining; what is running is cancelled. */
    @Override
    public void close() {
        synchronized (this) {
            if (state == State.CLOSED) {
                return;
            }
            state = State.CLOSED;
        }
        transports.forEach(ServerTransport::close);
        workers.close();
        if (spare != null) {
            spare.close();
        }
        reserve.close();
        callbacks.close();
        if (spareCallbacks != null) {
            spareCallbacks.close();
        }
    }

    /** Collects what a server is made of. Not thread-safe. */
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
        private ThreadFactory threadFactory = daemonThreads();
        private boolean genericCalls;
        private boolean exceptionTexts;
        private boolean ledger = true;
        private final List<Runnable> onRefusal = new ArrayList<>();
        private final List<Runnable> clears = new ArrayList<>();
        private RpcMeters meters = RpcMeters.withoutRegistry();
        private NanoClock clock = NanoClock.SYSTEM;

        private Builder(ServerTransport transport) {
            this.transport = transport;
        }

        public Builder export(ServiceExport export) {
            exports.add(export);
            return this;
        }

        /** Those added so far. */
        public List<ServiceExport> exports() {
            return List.copyOf(exports);
        }

        /** Added inside the ones before. */
        public Builder filter(ServerFilter filter) {
            filters.add(filter);
            return this;
        }

        /**
         * How many calls run at once, and how many more may wait. A quarter more run, at least four, while all threads are
         * busy and tenants call that hold few of them; none with one thread. As many threads again are made, when they are
         * needed, for what streams tell their services.
         *
         * @param threads 200 when never set
         * @param queueCapacity twice the threads when never set
         */
        public Builder workers(int threads, int queueCapacity) {
            this.threads = threads;
            this.queueCapacity = queueCapacity;
            return this;
        }

        /**
         * How many calls may have a worker, wait for one, or go on without one until an asynchronous method completes them.
         * An adaptive limit between {@link #MIN_CALLS} and {@link #MAX_CALLS} when never set.
         *
         * @param chosen asked once
         */
        public Builder limit(Supplier<Limit> chosen) {
            this.limit = chosen;
            return this;
        }

        private Limit limit() {
            if (limit != null) {
                return limit.get();
            }
            int most = (int) Math.min(Integer.MAX_VALUE, Math.max(MAX_CALLS, (long) threads + queueCapacity));
            return new GradientLimit(Math.min(MIN_CALLS, most), most);
        }

        /**
         * How many calls of one method may run, all its overloads and exports together; no limit of its own when never set.
         * A call counts until it has its answer and its worker has left.
         *
         * @param service name of the interface; {@link #build} fails if it is not exported or has no such method
         * @param chosen asked once
         */
        public Builder limit(String service, String method, Supplier<Limit> chosen) {
            methodLimits.put(new MethodLimits.Key(service, method), chosen);
            return this;
        }

        private Map<MethodLimits.Key, Supplier<Limit>> checkedMethodLimits() {
            for (MethodLimits.Key key : methodLimits.keySet()) {
                boolean exported = exports.stream()
                        .map(ServiceExport::service)
                        .anyMatch(service -> service.name().equals(key.interfaceName())
                                && !service.overloads(key.method()).isEmpty());
                if (!exported) {
                    throw new IllegalArgumentException("a limit is set for " + key.interfaceName() + "/" + key.method()
                            + ", which is not exported");
                }
            }
            return methodLimits;
        }

        /** How long a call may wait for a worker before it is refused as not executed; 50 ms when never set. */
        public Builder maxQueueWait(Duration wait) {
            if (wait.isNegative() || wait.isZero()) {
                throw new IllegalArgumentException("rpc.server.max-queue-wait is " + wait + "; expected more than 0");
            }
            this.maxQueueWait = wait;
            return this;
        }

        /**
         * How long a worker waits in {@code onNext} for a caller that reads a stream slowly; 1 s when never set. The wait
         * counts for the whole stream, and begins anew when the caller has taken 32 KiB. Afterwards the transport keeps a
         * limited number of bytes and then ends the stream with RESOURCE_EXHAUSTED. Threads of the application wait until
         * the call is over.
         *
         * @param wait zero or more
         */
        public Builder maxStreamWait(Duration wait) {
            if (wait.isNegative()) {
                throw new IllegalArgumentException("rpc.limits.max-stream-wait is " + wait + "; expected 0 or more");
            }
            this.maxStreamWait = wait;
            return this;
        }

        /**
         * Where workers come from, platform threads when never set.
         *
         * @param keepAlive when idle ones end; zero, as fits virtual threads, for a new one whenever one is needed
         */
        public Builder threads(ThreadFactory factory, Duration keepAlive) {
            this.threadFactory = factory;
            this.keepAlive = keepAlive;
            return this;
        }

        /**
         * Accepts callers who show this token, besides those added before; the health service needs none. Everybody
         * passes when never set.
         */
        public Builder token(Token accepted) {
            tokens.add(accepted);
            return this;
        }

        /** Asked whether a call may run, after those added before. */
        public Builder authorizer(RpcAuthorizer authorizer) {
            authorizers.add(authorizer);
            return this;
        }

        /**
         * Clears what the code of a call may leave on a thread of the server, such as a security context in a
         * {@link ThreadLocal}. Run before and after each call, and each thing that a stream is told, on the same thread;
         * must be quick. SLF4J's MDC is cleared anyway.
         */
        public Builder clearThreads(Runnable clear) {
            clears.add(clear);
            return this;
        }

        /** Whether {@code $invoke} is served; false when never set. */
        public Builder genericCalls(boolean allowed) {
            this.genericCalls = allowed;
            return this;
        }

        /**
         * Whether callers are told the texts of exceptions that they have no class of, which may hold SQL or the like;
         * false when never set: they are told the class and an id, and the server logs the rest under it.
         */
        public Builder exceptionTexts(boolean told) {
            this.exceptionTexts = told;
            return this;
        }

        /** Whether each call keeps a {@link tern.rpc.CallLedger} of where its time goes; true when never set. */
        public Builder ledger(boolean kept) {
            this.ledger = kept;
            return this;
        }

        /**
         * Told of each call that is refused because no worker was free for it, after those told before. Runs on an event
         * loop: must not block.
         */
        public Builder onRefusal(Runnable told) {
            onRefusal.add(told);
            return this;
        }

        public Builder meters(RpcMeters replaced) {
            this.meters = replaced;
            return this;
        }

        public Builder clock(NanoClock replaced) {
            this.clock = replaced;
            return this;
        }

        /** @throws IllegalArgumentException if a service cannot be served, naming it and the reason */
        public RpcServer build() {
            return new RpcServer(this);
        }

        private static ThreadFactory daemonThreads() {
            AtomicInteger number = new AtomicInteger();
            return task -> {
                Thread thread = new Thread(task, "rpc-worker-" + number.incrementAndGet());
                thread.setDaemon(true);
                return thread;
            };
        }
    }
}
