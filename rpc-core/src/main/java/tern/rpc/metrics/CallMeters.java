package tern.rpc.metrics;

import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.ServiceKey;

/**
 * The timers for one method and one protocol, on the client or on the server. Each timer is looked up only once.
 * Thread-safe.
 */
public final class CallMeters {

    private static final SeldomWarning FAILING =
            new SeldomWarning(LoggerFactory.getLogger(CallMeters.class), NanoClock.SYSTEM, Duration.ofMillis(250));

    private final AtomicReferenceArray<Timer> timers = new AtomicReferenceArray<>(Outcome.COUNT);
    private final RpcMeters meters;
    private final RpcMeter meter;
    private final ServiceKey service;
    private final MethodDescriptor method;
    private final String protocol;
    private final @Nullable Timer queue;
    private final LatencyWindow window;
    private final @Nullable MethodCalls calls; // the counts of the served calls; null on the client
    private final @Nullable CalledMethod called; // the counts of the calls made; null on the server

    CallMeters(
            RpcMeters meters,
            RpcMeter meter,
            ServiceKey service,
            MethodDescriptor method,
            String protocol,
            @Nullable Timer queue,
            LatencyWindow window,
            @Nullable MethodCalls calls,
            @Nullable CalledMethod called) {
        this.meters = meters;
        this.meter = meter;
        this.service = service;
        this.method = method;
        this.protocol = protocol.toLowerCase(Locale.ROOT);
        this.queue = queue;
        this.window = window;
        this.calls = calls;
        this.called = called;
    }

    /**
     * Counts a completed call. The duration of a stream is not compared with the latency target, because the
     * application determines how long a stream lasts.
     *
     * @param failure the call's failure, or null for a result
     */
    public void ended(@Nullable Throwable failure, long nanos) {
        try {
            time(Outcome.of(failure), nanos);
        } catch (Throwable e) {
            failed(e);
        }
        boolean failed = failure != null && !method.declares(failure);
        boolean served = meter == RpcMeter.SERVER_REQUESTS;
        if (failed && served) {
            meters.failed(Outcome.of(failure));
        }
        if (method.type() == MethodType.UNARY) {
            // An invalid request does not indicate that the server has a problem.
            long second = window.record(nanos, failed && !(served && Outcome.blamesCaller(failure)));
            if (calls != null) {
                calls.ended(nanos, failed, second);
            }
            if (called != null) {
                called.ended(nanos);
            }
        }
    }

    private void time(int outcome, long nanos) {
        Timer timer = timers.get(outcome);
        if (timer == null) {
            timer = meters.callTimer(meter, service, method, protocol, Outcome.tag(outcome));
            timers.set(outcome, timer);
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
    }

    /** Logs an exception that the application's meter registry threw, because the call must still be completed. */
    private void failed(Throwable failure) {
        FAILING.warn(() -> method + " could not be measured", failure);
    }

    /** Records the time that a call waited in the queue. */
    public void dequeued(long waitedNanos) {
        if (queue != null) {
            try {
                queue.record(waitedNanos, TimeUnit.NANOSECONDS);
            } catch (Throwable e) {
                failed(e);
            }
        }
    }
}
