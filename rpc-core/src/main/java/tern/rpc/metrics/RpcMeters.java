package tern.rpc.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;
import tern.rpc.NanoClock;
import tern.rpc.Phase;
import tern.rpc.ServiceKey;
import tern.rpc.Thrown;

/**
 * The meters of a client or a server. The response time histograms have additional buckets around the latency target,
 * so that the share of calls above the target can be computed. Thread-safe.
 */
public final class RpcMeters {

    private static final Logger LOG = LoggerFactory.getLogger(RpcMeters.class);

    /** The upper bounds of the additional buckets, as multiples of the latency target. */
    private static final double[] AROUND_TARGET = {0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 2, 5, 10};

    private final MeterRegistry registry;
    private final Slo slo;
    private final LatencyWindow server;
    private final LatencyWindow client;
    private final ConcurrentMap<Tags, PhaseMeters> phases = new ConcurrentHashMap<>();
    private final ConcurrentMap<MethodKey, MethodCalls> servedMethods = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, CalledMethod> calledMethods = new ConcurrentHashMap<>();
    private final LongAdder[] failures = new LongAdder[Outcome.COUNT];
    private volatile @Nullable CallObserver observer;

    private record MethodKey(ServiceKey service, String method) {}

    public RpcMeters(MeterRegistry registry, Slo slo) {
        this(registry, slo, NanoClock.SYSTEM);
    }

    /** @param clock the clock for the periods of one minute and 15 minutes */
    public RpcMeters(MeterRegistry registry, Slo slo, NanoClock clock) {
        this.registry = registry;
        this.slo = slo;
        this.server = new LatencyWindow(clock, slo.latency().toNanos());
        this.client = new LatencyWindow(clock, slo.latency().toNanos());
        for (int i = 0; i < failures.length; i++) {
            failures[i] = new LongAdder();
        }
    }

    /** Creates meters without a registry. Only the response times of the last minute are measured. */
    public static RpcMeters withoutRegistry() {
        return new RpcMeters(new CompositeMeterRegistry(), Slo.DEFAULT);
    }

    public Slo slo() {
        return slo;
    }

    /**
     * Sets the observer of served calls that have a ledger.
     *
     * @param newObserver the observer, or null for none
     */
    public void observe(@Nullable CallObserver newObserver) {
        observer = newObserver;
    }

    @Nullable
    CallObserver observer() {
        return observer;
    }

    /** Returns the number, response times and failures of the calls served in the last minute. */
    public LatencyWindow.Report served() {
        return server.report();
    }

    /** Returns the number, response times and failures of the calls made in the last minute. */
    public LatencyWindow.Report called() {
        return client.report();
    }

    /** Returns the calls served in the last 15 minutes. */
    public LatencyWindow servedWindow() {
        return server;
    }

    void failed(int outcome) {
        failures[outcome].increment();
    }

    /**
     * Returns the number of served calls that failed since the start, by the name of their status code;
     * {@code EXCEPTION} for exceptions without a status code. Exceptions declared by the method are not counted, and
     * neither are calls that were refused before their method was known.
     */
    public Map<String, Long> failures() {
        Map<String, Long> counts = new LinkedHashMap<>();
        for (int i = 0; i < failures.length; i++) {
            long count = failures[i].sum();
            if (count != 0) {
                counts.put(Outcome.tag(i).toUpperCase(Locale.ROOT), count);
            }
        }
        return counts;
    }

    /** Records the response time of a call refused before its method was known. */
    public void refused(long nanos) {
        server.record(nanos, true);
    }

    /**
     * Returns the meters of a method on the server.
     *
     * @param service the service that exports the method
     */
    public CallMeters server(ServiceKey service, MethodDescriptor method, String protocol) {
        MethodCalls calls = servedMethods.computeIfAbsent(
                new MethodKey(service, method.name()),
                key -> new MethodCalls(service, method, slo.latency().toNanos()));
        return new CallMeters(
                this,
                RpcMeter.SERVER_REQUESTS,
                service,
                method,
                protocol,
                queueTimer(service, method),
                server,
                calls,
                null);
    }

    /**
     * Returns the meters of a method on the client.
     *
     * @param service the reference's service
     */
    public CallMeters client(ServiceKey service, MethodDescriptor method, String protocol) {
        CalledMethod called = calledMethods.computeIfAbsent(method.label(), CalledMethod::new);
        return new CallMeters(this, RpcMeter.CLIENT_REQUESTS, service, method, protocol, null, client, null, called);
    }

    /** Returns the counts of the methods of all references created so far. */
    public List<CalledMethod> calledMethods() {
        return List.copyOf(calledMethods.values());
    }

    /** Returns the counts of all methods served so far. */
    public List<MethodCalls> servedMethods() {
        return List.copyOf(servedMethods.values());
    }

    /** Returns the totals of the method's ledgers. Methods whose meters have equal tags share these totals. */
    public PhaseMeters phases(ServiceKey service, MethodDescriptor method) {
        return phases.computeIfAbsent(methodTags(service, method), tags -> new PhaseMeters(this, service, method));
    }

    /** Returns the totals of all methods served so far, one object for each method. */
    public List<PhaseMeters> phases() {
        return List.copyOf(phases.values());
    }

    /** Registers a gauge that holds only a weak reference to the object. */
    public <T> void gauge(RpcMeter meter, T object, ToDoubleFunction<T> value, String... tags) {
        Gauge.builder(meter.key(), object, value)
                .description(meter.description())
                .baseUnit(meter.unit())
                .tags(tags)
                .register(registry);
    }

    /** Registers a counter that holds only a weak reference to the object. */
    public <T> void counter(RpcMeter meter, T object, ToDoubleFunction<T> count, String... tags) {
        FunctionCounter.builder(meter.key(), object, count)
                .description(meter.description())
                .baseUnit(meter.unit())
                .tags(tags)
                .register(registry);
    }

    Timer callTimer(RpcMeter meter, ServiceKey service, MethodDescriptor method, String protocol, String outcome) {
        Tags tags = methodTags(service, method).and(RpcMeter.PROTOCOL, protocol, RpcMeter.OUTCOME, outcome);
        return Timer.builder(meter.key())
                .description(meter.description())
                .tags(tags)
                .publishPercentileHistogram()
                .serviceLevelObjectives(bordersAroundTarget())
                .register(registry);
    }

    void phase(PhaseMeters sums, ServiceKey service, MethodDescriptor method, Phase phase) {
        Tags tags = methodTags(service, method).and(RpcMeter.PHASE, phase.key());
        FunctionTimer.builder(
                        RpcMeter.SERVER_PHASE.key(),
                        sums,
                        all -> all.callsWith(phase),
                        all -> all.totalNanos(phase),
                        TimeUnit.NANOSECONDS)
                .description(RpcMeter.SERVER_PHASE.description())
                .tags(tags)
                .register(registry);
        if (phase.isOperation()) {
            FunctionCounter.builder(RpcMeter.SERVER_OPERATIONS.key(), sums, all -> all.operations(phase))
                    .description(RpcMeter.SERVER_OPERATIONS.description())
                    .tags(tags)
                    .register(registry);
        }
    }

    /**
     * Returns the timer for waits in the queue. Returns null if the meter registry throws an exception, because calls
     * must be served even without this timer.
     */
    private @Nullable Timer queueTimer(ServiceKey service, MethodDescriptor method) {
        try {
            return Timer.builder(RpcMeter.SERVER_QUEUE.key())
                    .description(RpcMeter.SERVER_QUEUE.description())
                    .tags(methodTags(service, method))
                    .register(registry);
        } catch (Throwable e) {
            Thrown.log(e, exception -> LOG.error("{}: the time in the queue cannot be measured", method, exception));
            return null;
        }
    }

    private static Tags methodTags(ServiceKey service, MethodDescriptor method) {
        return Tags.of(RpcMeter.SERVICE, service.toString(), RpcMeter.METHOD, method.name());
    }

    private Duration[] bordersAroundTarget() {
        Duration[] borders = new Duration[AROUND_TARGET.length];
        for (int i = 0; i < borders.length; i++) {
            borders[i] = Duration.ofNanos((long) (slo.latency().toNanos() * AROUND_TARGET[i]));
        }
        return borders;
    }
}
