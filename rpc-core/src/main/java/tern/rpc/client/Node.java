package tern.rpc.client;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.transport.ClientConnection;

/**
 * What one reference knows about one provider: calls in flight, response times, failures in a row, and when it last
 * gave a sign of life. Times are on the clock of {@link System#nanoTime()}. Thread-safe; a lost update of the response
 * time is tolerated.
 */
final class Node {

    /** The response time counts for this long, by exponential decay (docs/cluster.md). */
    private static final double DECAY_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Response times below this multiple of the usual one make no difference. */
    private static final double SLOW = 2;

    /** A failed call counts like one that took this multiple of the usual time. */
    private static final double FAILED = 10;

    private static final double MAX_COST = 1_000;

    /** A provider with calls in flight that sends nothing for this long is stalled. */
    private static final long MIN_SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The same as a multiple of its usual response time. */
    private static final int SILENT_TIMES = 10;

    private static final int FAILURES_IN_A_ROW = 5;
    private static final long EJECTED_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_EJECTED_NANOS = TimeUnit.SECONDS.toNanos(300);

    /** Calls that take long look like silence. Servers accept few probes, so only one is sent in this time. */
    private static final long BETWEEN_PROBES_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** A stalled provider that cannot be probed gets a call after this time. */
    private static final long TRIAL_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final VarHandle TRIAL;

    static {
        try {
            TRIAL = MethodHandles.lookup().findVarHandle(Node.class, "nextTrialNanos", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ClientConnection connection;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicInteger streams = new AtomicInteger();
    private volatile long signNanos; // the last answer, or the first call in flight after none
    private volatile double cost = 1; // response time as a multiple of the method's usual one, at costNanos
    private volatile long costNanos;
    private volatile long usualNanos; // response time, smoothed
    private volatile int failures; // in a row
    private volatile int ejections; // without a success between
    private volatile boolean ejected;
    private volatile long ejectedUntilNanos;
    private volatile boolean silent;
    private volatile long silentSinceNanos;
    private volatile long nextTrialNanos;
    private volatile long nextProbeNanos;

    Node(ClientConnection connection, long now) {
        this.connection = connection;
        this.signNanos = now;
        this.costNanos = now;
        this.nextProbeNanos = now;
    }

    ClientConnection connection() {
        return connection;
    }

    /** A call is about to be sent. */
    void begin(long now) {
        if (inFlight.getAndIncrement() == 0 && !silent) {
            signNanos = now;
        }
    }

    /** A stream is about to be opened, which may be silent for as long as its users like. */
    void beginStream() {
        streams.incrementAndGet();
    }

    void endStream(@Nullable RpcException failure, long now) {
        streams.decrementAndGet();
        ended(failure, now);
    }

    /** A call that wants no answer was passed to the socket, which tells nothing about the node. */
    void sentOneWay() {
        inFlight.decrementAndGet();
    }

    /**
     * A call has ended.
     *
     * @param failure null for an answer of the method, its own exceptions included
     * @param tookNanos the time since {@link #begin}
     * @param times the usual times of the method
     */
    void end(@Nullable RpcException failure, long tookNanos, long now, UsualTime times) {
        inFlight.decrementAndGet();
        if (ended(failure, now)) {
            long usual = times.add(tookNanos);
            usualNanos = usualNanos == 0 ? tookNanos : usualNanos + (tookNanos - usualNanos) / 8;
            count(usual <= 0 ? 1 : (double) tookNanos / usual, now);
        }
    }

    /** @return whether the node gave an answer */
    private boolean ended(@Nullable RpcException failure, long now) {
        if (failure != null && !isAnswer(failure)) {
            if (failure.code() != StatusCode.CANCELLED) {
                failed(now);
            }
            return false;
        }
        signNanos = now;
        silent = false;
        failures = 0;
        ejections = 0;
        ejected = false;
        return true;
    }

    /** Whether the provider answered: its refusals show that it lives. */
    private static boolean isAnswer(RpcException failure) {
        return switch (failure.code()) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> false;
            default -> true;
        };
    }

    private synchronized void failed(long now) {
        count(FAILED, now);
        failures = failures + 1;
        if (failures >= FAILURES_IN_A_ROW) {
            failures = 0;
            ejections = ejections + 1;
            ejectedUntilNanos = now + Math.min(MAX_EJECTED_NANOS, EJECTED_NANOS * ejections);
            ejected = true;
        }
    }

    private void count(double sample, long now) {
        double decayed = cost(now);
        double capped = Math.min(MAX_COST, sample);
        cost = capped > decayed ? capped : decayed + (capped - decayed) / 8;
        costNanos = now;
    }

    /** The response time as a multiple of the usual one, which returns to 1 while there are no calls. */
    private double cost(long now) {
        double weight = Math.exp((costNanos - now) / DECAY_NANOS);
        return 1 + (cost - 1) * weight;
    }

    /** The load of the node for comparison: calls in flight × response time. */
    double score(long now) {
        double slow = cost(now);
        return (inFlight.get() + streams.get() + 1) * (slow < SLOW ? 1 : slow);
    }

    /**
     * Whether calls shall avoid the node while others are there: it is silent although it has calls to answer, or has
     * failed too often in a row.
     */
    boolean isAvoided(long now) {
        return isStalled(now) || isEjected(now);
    }

    boolean isEjected(long now) {
        if (ejected && now - ejectedUntilNanos >= 0) {
            ejected = false;
        }
        return ejected;
    }

    private boolean isStalled(long now) {
        if (silent) {
            if (connection.isHeardAfter(silentSinceNanos)) {
                silent = false;
                signNanos = now;
                return false;
            }
            return !isTrialDue(now);
        }
        if (inFlight.get() == 0 || now - signNanos < silence()) {
            return false;
        }
        if (connection.isHeardAfter(now - silence()) || now - nextProbeNanos < 0) {
            return false;
        }
        nextProbeNanos = now + BETWEEN_PROBES_NANOS;
        silentSinceNanos = now;
        nextTrialNanos = now + TRIAL_NANOS;
        silent = true;
        connection.probe();
        return true;
    }

    private long silence() {
        return Math.max(MIN_SILENCE_NANOS, SILENT_TIMES * usualNanos);
    }

    /** Whether a single call may try a provider that has given no sign of life. */
    private boolean isTrialDue(long now) {
        long due = nextTrialNanos;
        return !connection.canProbe() && now - due >= 0 && TRIAL.compareAndSet(this, due, now + TRIAL_NANOS);
    }

    int inFlight() {
        return inFlight.get();
    }

    @Override
    public String toString() {
        return connection.endpoint() + " (" + inFlight + " in flight)";
    }
}
