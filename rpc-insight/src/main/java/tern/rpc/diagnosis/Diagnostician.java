package tern.rpc.diagnosis;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.CallRecords.Sums;
import tern.rpc.diagnosis.Diagnosis.Miss;
import tern.rpc.diagnosis.Diagnosis.State;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.ThreadIds;
import tern.rpc.metrics.CallObserver;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.Holders;
import tern.rpc.pool.LoggingMode;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.PoolSource;

/**
 * Watches the calls of an application second by second and diagnoses a missed target. One thread calls {@link #second}
 * once a second and {@link #look} when that asks for it; any thread may read the {@link #diagnosis}.
 */
public final class Diagnostician {

    private static final Logger LOG = LoggerFactory.getLogger(Diagnostician.class);

    private static final Path ROOT = Path.of("/");
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int HUNG_TARGETS = 10;
    private static final int KEPT_SECONDS = 60;
    private static final double P99 = 0.99;

    private final long targetNanos;
    private final RpcMeters meters;
    private final Surroundings surroundings;
    private final ProcessWatch process;
    private final NanoClock clock;
    private final Clock wall;
    private final CallRecords records;
    private final MissWatch watch = new MissWatch();
    private final Usual usual = new Usual();
    private final Sampler sampler;
    private final Deque<Second> seconds = new ArrayDeque<>(); // used by the watching thread only
    private @Nullable Instant since; // likewise
    private long sinceNanos; // likewise
    private double usualP99 = -1; // likewise
    private boolean told; // likewise: the log line of the present miss was written
    private volatile Diagnosis latest = Diagnosis.calm(State.QUIET, quiet(), List.of());

    /** What the application lets the diagnosis look at. */
    public interface Surroundings {

        /** The calls that run now. */
        List<RunningCall> running();

        /** The calls refused since the start, by reason. */
        Map<String, Long> refused();

        /** All pools. */
        List<PoolSource> pools();

        /** How log lines are written. */
        default LoggingMode logging() {
            return LoggingMode.ASYNCHRONOUS;
        }
    }

    /** The sums at the end of a second. */
    private record Second(
            long atNanos, Map<String, Sums> methods, Map<String, Long> refused, Map<String, PoolSnapshot> pools) {}

    Diagnostician(RpcMeters meters, Surroundings surroundings, ProcessWatch process, NanoClock clock, Clock wall) {
        this.meters = meters;
        this.targetNanos = meters.slo().latency().toNanos();
        this.surroundings = surroundings;
        this.process = process;
        this.clock = clock;
        this.wall = wall;
        ThreadIds threads = new ThreadIds(ROOT);
        this.records = new CallRecords(targetNanos, threads);
        this.sampler = new Sampler(new RunQueue(ROOT, threads));
    }

    /** Creates a diagnostician of this process. */
    public static Diagnostician of(RpcMeters meters, Surroundings surroundings) {
        return new Diagnostician(meters, surroundings, new MachineWatch(), NanoClock.SYSTEM, Clock.systemUTC());
    }

    /** Starts to measure pauses of the process. */
    public void start() {
        process.start();
    }

    /** Ends what {@link #start} began. */
    public void stop() {
        process.stop();
    }

    /** Is told of each call that has ended. */
    public CallObserver observer() {
        return records;
    }

    /** The present diagnosis. Any thread may call this. */
    public Diagnosis diagnosis() {
        return latest;
    }

    /**
     * The time until the next {@link #look}, in nanoseconds; 0 if nobody has to look, because calls are in time and
     * none runs for longer than twice the target.
     */
    public long pauseNanos() {
        return since != null || isSomeoneLate() ? sampler.pauseNanos() : 0;
    }

    private boolean isSomeoneLate() {
        for (RunningCall call : surroundings.running()) {
            if (call.runningNanos() > 2 * targetNanos) {
                return true;
            }
        }
        return false;
    }

    /** Looks at the threads of running calls. */
    public void look() {
        sampler.look(surroundings.running(), clock.nanoTime());
    }

    /** Ends a second: decides whether the target is missed, and diagnoses it. */
    public void second() {
        long now = clock.nanoTime();
        Second present = read(now);
        Second before = seconds.peekLast();
        seconds.addLast(present);
        if (seconds.size() > KEPT_SECONDS) {
            seconds.removeFirst();
        }
        List<RunningCall> running = surroundings.running();
        int hung = (int) running.stream()
                .filter(call -> call.runningNanos() > HUNG_TARGETS * targetNanos)
                .count();
        Evidence.Counts counts = before == null ? new Evidence.Counts(0, 0, 0, 0, hung) : counts(before, present, hung);
        long bad = Math.max(counts.late(), counts.failed()) + counts.refused();
        boolean open = watch.second(counts.calls() + counts.refused(), bad, hung);
        if (watch.isHealthy()) {
            learn(now, before, present, counts);
        }
        if (open) {
            if (since == null) {
                begin(now);
            }
            diagnose(now, present, running, hung);
        } else {
            if (since != null) {
                end(now);
            }
            latest = Diagnosis.calm(
                    watch.isWarm() ? State.HEALTHY : State.QUIET, watch.isWarm() ? healthy() : quiet(), List.of());
        }
    }

    private void begin(long now) {
        since = wall.instant();
        sinceNanos = now;
    }

    private void end(long now) {
        LOG.info(
                "Calls are in time again, after {} s of a missed target",
                TimeUnit.NANOSECONDS.toSeconds(now - sinceNanos));
        since = null;
        latest = Diagnosis.calm(State.HEALTHY, healthy(), List.of());
        sampler.clear();
        told = false;
    }

    private Second read(long now) {
        Map<String, PoolSnapshot> pools = new HashMap<>();
        for (PoolSource source : surroundings.pools()) {
            PoolSnapshot snapshot = source.snapshot();
            pools.putIfAbsent(snapshot.name(), snapshot);
            Holders holders = source.holders();
            if (holders != null && holders.all().stream().anyMatch(Holders.Holder::isAbandoned)) {
                holders.suspect();
            }
        }
        return new Second(now, records.sums(), Map.copyOf(surroundings.refused()), pools);
    }

    private static Evidence.Counts counts(Second from, Second to, int hung) {
        long calls = 0;
        long late = 0;
        long failed = 0;
        for (Map.Entry<String, Sums> entry : to.methods().entrySet()) {
            Sums sums = entry.getValue().since(from.methods().getOrDefault(entry.getKey(), Sums.NONE));
            calls += sums.calls();
            late += sums.late();
            failed += sums.failed();
        }
        long refused =
                refused(from, to).values().stream().mapToLong(Long::longValue).sum();
        return new Evidence.Counts(calls, late, failed, refused, hung);
    }

    private static Map<String, Long> refused(Second from, Second to) {
        Map<String, Long> counts = new LinkedHashMap<>();
        to.refused().forEach((reason, count) -> {
            long more = count - from.refused().getOrDefault(reason, 0L);
            if (more > 0) {
                counts.put(reason, more);
            }
        });
        return counts;
    }

    /** A healthy second teaches what is usual. */
    private void learn(long now, @Nullable Second before, Second present, Evidence.Counts counts) {
        if (before == null) {
            return;
        }
        List<EndedCall> good = records.good(before.atNanos());
        usual.learn(good);
        Operations.learn(usual, good);
        usual.learn("calls", counts.calls() * 1e9 / Math.max(1, now - before.atNanos()));
        present.pools().forEach((name, pool) -> {
            PoolSnapshot then = before.pools().get(name);
            PoolSnapshot delta = then == null ? pool : pool.since(then);
            if (!delta.held().isNegative() && delta.taken() > 0) {
                usual.learn("hold " + name, (double) delta.held().toNanos() / delta.taken());
            }
        });
        Machine seen = process.read(false);
        if (seen.allocatedPerSecond() >= 0) {
            usual.learn("allocated", seen.allocatedPerSecond());
        }
        double p99 = meters.served().p99Millis();
        usualP99 = usualP99 < 0 ? p99 : usualP99 + 0.1 * (p99 - usualP99);
    }

    private void diagnose(long now, Second present, List<RunningCall> running, int hung) {
        long from = Math.max(now - WINDOW_NANOS, sinceNanos - TimeUnit.SECONDS.toNanos(3));
        Second start = startOf(from, present);
        double length = Math.max(1, (present.atNanos() - start.atNanos()) / 1e9);
        Evidence.Counts counts = counts(start, present, hung);
        List<EndedCall> bad = new ArrayList<>(records.bad(from));
        for (RunningCall call : running) {
            if (call.runningNanos() > targetNanos) {
                bad.add(new EndedCall(call.method(), call.ledger(), now, call.runningNanos(), null));
            }
        }
        Machine seen = process.read(true);
        Evidence evidence = new Evidence(
                targetNanos,
                length,
                bad,
                records.good(from),
                sampler.samples(),
                sampler.tasks(),
                surroundings.logging(),
                usual,
                process,
                pools(start),
                refused(start, present),
                counts,
                seen.usually(usual.figure("allocated")));
        Ranking ranking = new Ranking(evidence, now);
        List<Cause> causes = ranking.causes();
        publish(now, counts, bad, ranking, causes, seen);
    }

    private Second startOf(long from, Second present) {
        Second start = present;
        for (Second second : seconds) {
            start = second;
            if (second.atNanos() - from >= 0) {
                break;
            }
        }
        return start;
    }

    private List<PoolLook> pools(Second start) {
        List<PoolLook> looks = new ArrayList<>();
        for (PoolSource source : surroundings.pools()) {
            PoolSnapshot now = source.snapshot();
            PoolSnapshot then = start.pools().get(now.name());
            Holders holders = source.holders();
            List<Holders.Holder> held = holders == null ? List.of() : holders.all();
            looks.add(
                    new PoolLook(now, then == null ? now : now.since(then), held, usual.figure("hold " + now.name())));
        }
        return looks;
    }

    private void publish(
            long now, Evidence.Counts counts, List<EndedCall> bad, Ranking ranking, List<Cause> causes, Machine seen) {
        Instant began = since == null ? wall.instant() : since;
        Miss miss = new Miss(
                began,
                TimeUnit.NANOSECONDS.toSeconds(now - sinceNanos),
                List.copyOf(ranking.excess().badByMethod().keySet()),
                targetNanos / 1e6,
                counts.calls(),
                counts.late(),
                counts.failed(),
                counts.refused(),
                counts.hung(),
                p99(bad, counts),
                usualP99);
        Map<String, Double> account = new LinkedHashMap<>();
        for (Part part : ranking.excess().account.longestFirst()) {
            account.merge(label(part), ranking.excess().account.of(part) / 1e6, Double::sum);
        }
        latest = new Diagnosis(
                State.MISS,
                DiagnosisText.of(miss, causes, account),
                miss,
                causes,
                account,
                ranking.excess().account.of(Account.OWN) / 1e6,
                seen.missing());
        if (!told && watch.isWarm()) {
            told = true;
            Cause first = causes.get(0);
            LOG.warn(
                    "Calls miss the target of {} ms: {} of {} late, {} failed, {} refused. First cause: {} ({} of {}"
                            + " ms). Change: {}. All of it: /actuator/rpc/diagnosis",
                    targetNanos / 1_000_000,
                    counts.late(),
                    counts.calls(),
                    counts.failed(),
                    counts.refused(),
                    DiagnosisText.title(first),
                    Math.round(first.ms()),
                    Math.round(first.ofMs()),
                    first.change().text());
        }
    }

    private static String label(Part part) {
        String kind = part.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        return part.name().isEmpty() ? kind : kind + " " + part.name();
    }

    /** The time that one call in a hundred exceeds: among the bad calls, the place that is left of that hundredth. */
    private static double p99(List<EndedCall> bad, Evidence.Counts counts) {
        List<EndedCall> slowest = new ArrayList<>(bad);
        slowest.sort(Comparator.comparingLong(EndedCall::tookNanos));
        if (slowest.isEmpty()) {
            return 0;
        }
        double badShare = Math.min(1, counts.bad() / (double) Math.max(1, counts.calls() + counts.refused()));
        double within = Math.max(0, (badShare - (1 - P99)) / badShare);
        int index = (int) Math.min(slowest.size() - 1, Math.floor(within * slowest.size()));
        return slowest.get(index).tookNanos() / 1e6;
    }

    private static String quiet() {
        return "QUIET: fewer than 60 seconds with calls so far; nothing can be said yet\n";
    }

    private String healthy() {
        return "HEALTHY: calls are within the target of "
                + Duration.ofNanos(targetNanos).toMillis() + " ms\n";
    }
}
