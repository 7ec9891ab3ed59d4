package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.account.PauseTimes;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.failure.TimeLimit;
import tern.rpc.diagnosis.machine.HiccupMeter;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.ProcessWatch;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.metrics.Slo;
import tern.rpc.pool.PoolSource;

/** A simulated application with simulated calls and a simulated clock. Its latency target is 100 ms. */
public final class Shop implements Surroundings {

    public static final String PLACE = "OrderService.place";

    /** The steps of a simulated call without a fault. */
    public static final Consumer<Steps> USUAL =
            call -> call.own(2).in(Phase.SQL, "select stock", 3).in(Phase.REDIS, "GET user:*", 1);

    private final AtomicLong time = new AtomicLong(1_000_000_000L);
    public final List<RunningCall> running = new ArrayList<>();
    final Map<String, Long> refused = new LinkedHashMap<>();
    public final List<PoolSource> pools = new ArrayList<>();
    final Map<String, Long> answers = new LinkedHashMap<>();
    public final Map<String, String> servers = new LinkedHashMap<>();
    public final List<TimeLimit> limits = new ArrayList<>();
    public Machine machine = Machine.UNKNOWN;
    public PauseTimes pauses = PauseTimes.NONE;
    public final List<HiccupMeter.Stop> stops = new ArrayList<>();
    public String stoppingQuota = "";
    public long allocated = -1; // the bytes that the thread of all calls has allocated; -1 if unknown
    public double exhausted; // the collector's share of the time while the heap is exhausted, otherwise 0
    private long lastTook;
    private final RpcMeters meters =
            new RpcMeters(new SimpleMeterRegistry(), new Slo(500, Duration.ofMillis(100)), time::get);
    public final Diagnostician diagnostician = new Diagnostician(
            meters,
            this,
            new ProcessWatch() {
                @Override
                public Machine read(boolean withThreads) {
                    return machine;
                }

                @Override
                public long allocatedBytes() {
                    return allocated;
                }

                @Override
                public double exhausted(long now) {
                    return exhausted;
                }

                @Override
                public List<HiccupMeter.Stop> pauses(long fromNanos, long toNanos) {
                    return stops.stream()
                            .filter(stop -> stop.toNanos() > fromNanos && stop.toNanos() <= toNanos)
                            .toList();
                }

                @Override
                public String stoppingQuota() {
                    return stoppingQuota;
                }

                @Override
                public Map<String, Double> operations() {
                    return pauses.operations();
                }

                @Override
                public boolean isOfRecording(String operation) {
                    return pauses.isOfRecording(operation);
                }

                @Override
                public Times between(long fromNanos, long toNanos) {
                    return pauses.between(fromNanos, toNanos);
                }
            },
            time::get,
            Clock.systemUTC(),
            Runnable::run);

    @Override
    public List<RunningCall> running() {
        return running;
    }

    @Override
    public Map<String, Long> refused() {
        return refused;
    }

    @Override
    public List<PoolSource> pools() {
        return pools;
    }

    @Override
    public Map<String, Long> answers() {
        return answers;
    }

    @Override
    public Map<String, String> servers() {
        return servers;
    }

    @Override
    public List<TimeLimit> timeLimits() {
        return limits;
    }

    public long now() {
        return time.get();
    }

    public void pass(double millis) {
        time.addAndGet((long) (millis * 1e6));
    }

    /** The steps that a call can take. */
    public final class Steps {
        public final CallLedger ledger;

        @Nullable
        public String caller;

        public Steps(double queuedMillis) {
            ledger = CallLedger.ofReceived(time::get, time.get(), (long) (queuedMillis * 1e6));
            ledger.turnTo(Phase.OWN);
        }

        public Steps own(double millis) {
            pass(millis);
            return this;
        }

        public Steps in(Phase phase, @Nullable String name, double millis) {
            Phase outer = ledger.enter(phase);
            pass(millis);
            ledger.leave(outer, name);
            return this;
        }

        /** Simulates a call whose deadline passes while its thread runs an operation. Must be the last step. */
        public void interruptedIn(Phase phase, String name, double millis) {
            ledger.enter(phase, name);
            pass(millis);
            CompletableFuture.runAsync(ledger::end).join();
        }
    }

    /** Serves one call. Then sets the simulated clock back to the start of the call, because calls run in parallel. */
    public void call(String method, double queuedMillis, Consumer<Steps> body) {
        call(method, queuedMillis, null, body);
    }

    public void call(String method, double queuedMillis, @Nullable Throwable failure, Consumer<Steps> body) {
        long start = time.get();
        Steps steps = new Steps(queuedMillis);
        body.accept(steps);
        long end = time.get();
        if (!steps.ledger.isEnded()) {
            steps.ledger.end();
        }
        long took = end - start + (long) (queuedMillis * 1e6);
        lastTook = took;
        meters.servedWindow().record(took, failure != null);
        diagnostician.observer().ended(method, steps.ledger, took, end, failure, () -> steps.caller);
        time.set(start);
    }

    double lastTookMillis() {
        return lastTook / 1e6;
    }

    /** Serves {@code calls} calls within one second. */
    public void second(int calls, Consumer<Steps> body) {
        second(() -> {
            for (int i = 0; i < calls; i++) {
                call(PLACE, 0, body);
            }
        });
    }

    /** Serves {@code calls} calls that arrive at equal intervals over one second. */
    public void evenSecond(int calls, Supplier<Consumer<Steps>> bodies) {
        for (int i = 0; i < calls; i++) {
            call(PLACE, 0, bodies.get());
            pass(1_000.0 / calls);
        }
        diagnostician.second();
    }

    public void second(Runnable calls) {
        calls.run();
        time.addAndGet(TimeUnit.SECONDS.toNanos(1));
        diagnostician.second();
    }

    /** Serves calls within the latency target for more than a minute. The diagnosis learns their usual times. */
    public Shop healthy(Consumer<Steps> body) {
        for (int i = 0; i < 90; i++) {
            second(100, body);
        }
        return this;
    }

    /**
     * Serves calls for several seconds, and returns the resulting diagnosis. The body defines the steps of each call.
     */
    public Diagnosis miss(Consumer<Steps> body) {
        for (int i = 0; i < 6; i++) {
            second(100, body);
        }
        return diagnostician.diagnosis();
    }

    public Diagnosis diagnosis() {
        return diagnostician.diagnosis();
    }

    /** Returns the cause that the diagnosis names first. Fails if calls meet the latency target. */
    public static Cause first(Diagnosis diagnosis) {
        assertThat(diagnosis.state()).as(diagnosis.text()).isEqualTo(Diagnosis.State.MISS);
        return diagnosis.causes().get(0);
    }
}
