package tern.rpc.diagnosis;

import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.LogThread;
import tern.rpc.NanoClock;
import tern.rpc.RunningCall;
import tern.rpc.diagnosis.Diagnosis.Miss;
import tern.rpc.diagnosis.Diagnosis.State;
import tern.rpc.diagnosis.History.Episode;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.MissWatch;
import tern.rpc.diagnosis.calls.RemoteTimes;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.machine.ExhaustedHeap;
import tern.rpc.diagnosis.machine.FlightRecording;
import tern.rpc.diagnosis.machine.Machine;
import tern.rpc.diagnosis.machine.MachineWatch;
import tern.rpc.diagnosis.machine.ProcessWatch;
import tern.rpc.diagnosis.machine.Recorded;
import tern.rpc.diagnosis.remedy.RemedyCheck;
import tern.rpc.diagnosis.sample.HeldRows;
import tern.rpc.diagnosis.sample.Sampler;
import tern.rpc.diagnosis.text.CollectorText;
import tern.rpc.evidence.RunQueue;
import tern.rpc.evidence.ThreadIds;
import tern.rpc.metrics.CallObserver;
import tern.rpc.metrics.RpcMeters;
import tern.rpc.pool.BodySizes;
import tern.rpc.pool.OutsideOperations;
import tern.rpc.pool.PoolSnapshot;
import tern.rpc.pool.ResultRows;

/**
 * Watches an application's calls every second, and diagnoses why they miss the latency target. One thread calls
 * {@link #second} once a second and calls {@link #look} after each pause of {@link #pauseNanos}. Any thread may read
 * the {@link #diagnosis}.
 */
public final class Diagnostician {

    private static final Path ROOT = Path.of("/");
    private static final int SAMPLED_CALLS = 8; // the minimum number of sampled calls for a diagnosis
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long REPLAYED_NANOS = TimeUnit.SECONDS.toNanos(60);

    /**
     * The maximum age of the late or failed calls that are examined to find out why a limiter, such as a circuit
     * breaker, refuses calls.
     */
    private static final long EARLIER_NANOS = TimeUnit.MINUTES.toNanos(5);

    private static final int KEPT_SECONDS = 60;

    /**
     * If at least {@value} calls in one second are late, failed or refused, the sampling of threads begins at once. The
     * cause is then known when the late calls are reported a few seconds later.
     */
    private static final int FIRST_BAD = 3;

    /** A diagnosis is reported as old if the calls have not been checked for this long. */
    private static final long OLD_NANOS = TimeUnit.SECONDS.toNanos(5);

    /**
     * Once a miss has lasted this long, the usual times of methods that have never met the target are learned even
     * during the miss.
     */
    private static final long LONG_MISS_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final long targetNanos;
    private final RpcMeters meters;
    private final Surroundings surroundings;
    private final ProcessWatch process;
    private final NanoClock clock;
    private final Clock wall;
    private final CallRecords records;
    private final MissWatch watch = new MissWatch();
    private final Baseline usual = new Baseline();
    private final MethodRates rates = new MethodRates(usual);
    private final LimitedCallers limited = new LimitedCallers();
    private final RemoteTimes remote = new RemoteTimes();
    private final BaselineUpdater updater;
    private final MethodMisses methods;
    private final LastMinute lastMinute;
    private final History history = new History();
    private final FlightRecording recording;
    private final MissReport report;
    private final RemedyCheck check = new RemedyCheck();
    private final Sampler sampler;
    private final HeldRows heldRows = new HeldRows(); // Only the diagnosis thread uses this field.
    private final PoolObserver observedPools; // Only the diagnosis thread uses this field.
    private final FillingHeap fillingHeap; // Only the diagnosis thread uses this field.
    private final ExhaustedHeap exhaustedHeap = new ExhaustedHeap();
    private final HungCalls hungCalls;
    private final LateCalls late;
    private boolean mayBegin; // whether calls may have begun to miss the target; used only by the diagnosis thread
    private boolean exhausted; // whether the heap was exhausted in the last second; used only by the diagnosis thread
    // the counters at the end of each of the last seconds, oldest first; used only by the diagnosis thread
    private final Deque<CounterSnapshot> seconds = new ArrayDeque<>();
    private @Nullable Instant since; // when calls began to miss the target; used only by the diagnosis thread
    private long sinceNanos; // Only the diagnosis thread uses this field.
    private volatile long watchedNanos; // when the calls were last checked
    private volatile long diagnosedNanos; // when the published causes were found
    private volatile Diagnosis latest = Diagnosis.quiet();

    /** @param log writes log lines */
    Diagnostician(
            RpcMeters meters,
            Surroundings surroundings,
            ProcessWatch process,
            NanoClock clock,
            Clock wall,
            Executor log) {
        this.report = new MissReport(history, log);
        this.fillingHeap = new FillingHeap(process, log);
        this.meters = meters;
        this.targetNanos = meters.slo().latency().toNanos();
        this.surroundings = surroundings;
        this.process = process;
        this.clock = clock;
        this.wall = wall;
        this.recording = process.recording();
        ThreadIds threads = process.threads();
        this.records = new CallRecords(targetNanos, threads, process::allocatedBytes);
        this.methods = new MethodMisses(usual, records);
        this.lastMinute = new LastMinute(records);
        this.updater = new BaselineUpdater(meters, usual, rates, limited, records);
        this.observedPools = new PoolObserver(surroundings, usual);
        this.sampler = new Sampler(new RunQueue(ROOT, threads));
        this.hungCalls = new HungCalls(targetNanos, records, sampler);
        this.late = new LateCalls(targetNanos, records, usual, updater, sampler, process);
    }

    /** Creates a diagnostician for this process. */
    public static Diagnostician of(RpcMeters meters, Surroundings surroundings) {
        return new Diagnostician(
                meters, surroundings, new MachineWatch(), NanoClock.SYSTEM, Clock.systemUTC(), LogThread.shared());
    }

    /**
     * Starts measuring the process's pauses.
     *
     * @param recordMisses whether the JVM's flight recorder may be started automatically when calls have missed the
     *     latency target for ten seconds (docs/decisions, decision 45)
     */
    public void start(boolean recordMisses) {
        recording.startInMisses(recordMisses);
        process.start();
    }

    /** Stops all measurements that {@link #start} began. */
    public void stop() {
        process.stop();
    }

    /** Returns the observer that must be notified of each call that has ended. */
    public CallObserver observer() {
        return records;
    }

    /** Returns the last flight recording, or null if there was none. Any thread may call this. */
    public @Nullable Recorded recorded() {
        return recording.last();
    }

    /**
     * Returns the last flight recording if it shows the current state. While calls miss the latency target, the
     * recording must have been started during the current miss, and must have ended after the current first cause was
     * ranked first. While calls meet the target, the recording must have been started outside of every miss. Otherwise
     * returns null. Any thread may call this.
     */
    public @Nullable Recorded recordedNow() {
        Recorded last = recording.last();
        Miss miss = latest.miss();
        Instant now = miss == null ? null : miss.since();
        Episode episode = history.last();
        Instant firstSince = episode != null && episode.miss().equals(now) ? episode.from() : null;
        return last != null && last.isOf(now, firstSince) ? last : null;
    }

    /**
     * Starts a flight recording of 30 s. Returns false if the recording could not be started, for example because a
     * recording is already running. Any thread may call this.
     */
    public boolean record() {
        Miss miss = latest.miss();
        return recording.start(wall.instant(), miss == null ? null : miss.since());
    }

    /**
     * Returns a line about the last change of a property that a diagnosis had recommended. The line compares the
     * expected effect with the measured effect. Returns an empty string if no recommended change was made. Any thread
     * may call this.
     */
    public String checkedChange() {
        return check.line();
    }

    /** Returns the history of earlier diagnoses and measured values. Any thread may read the history. */
    public History history() {
        return history;
    }

    /** Returns the current diagnosis. Any thread may call this. */
    public Diagnosis diagnosis() {
        Diagnosis known = latest;
        long now = clock.nanoTime();
        long unwatched = watchedNanos == 0 ? 0 : now - watchedNanos;
        if (unwatched > OLD_NANOS) {
            long seconds = TimeUnit.NANOSECONDS.toSeconds(unwatched);
            String quota = process.stoppingQuota();
            known = known.state() == State.MISS ? known : known.lastKnown(seconds);
            known = known.withNote(
                    "old      the process has been too busy to look again for " + seconds + " s" + quota);
        }
        long age = now - diagnosedNanos;
        return known.state() == State.MISS && age > OLD_NANOS
                ? known.seenBefore(TimeUnit.NANOSECONDS.toSeconds(age))
                : known;
    }

    /**
     * Returns the pause before the next call to {@link #look}, in nanoseconds. Returns 0 if no sample is needed. A
     * sample is needed if calls miss the latency target, if several calls of the last second missed it, if a running
     * call has taken more than twice the target, or if the heap will be full soon. Also returns 0 while the heap is
     * exhausted, because a sample would allocate too much memory.
     */
    public long pauseNanos() {
        boolean isNeeded = since != null || mayBegin || fillingHeap.isSuspected() || isSomeoneLate();
        return !exhausted && isNeeded ? sampler.pauseNanos() : 0;
    }

    private boolean isSomeoneLate() {
        for (RunningCall call : surroundings.running()) {
            if (call.runningNanos() > 2 * targetNanos) {
                return true;
            }
        }
        return false;
    }

    /** Samples the threads of running calls. */
    public void look() {
        sampler.look(surroundings.running(), clock.nanoTime());
        heldRows.look(surroundings.pools(), targetNanos);
        observedPools.look();
    }

    /**
     * Decides whether the calls of the last second missed the latency target, and finds the causes if they did. Must be
     * called once a second.
     */
    public void second() {
        observe();
        watchedNanos = clock.nanoTime();
    }

    private void observe() {
        long now = clock.nanoTime();
        ResultRows.turn(now);
        BodySizes.turn(now);
        remote.second(meters.calledMethods(), now);
        double share = process.exhausted(now);
        exhausted = share > 0;
        if (exhausted) {
            diagnoseExhaustion(now, share);
            return;
        }
        exhaustedHeap.clear();
        CounterSnapshot before = seconds.peekLast();
        CounterSnapshot all = read(now);
        lastMinute.second(all);
        CounterSnapshot current = limited.counted(before, all, usual.figure("calls"));
        late.second(current.pools().values());
        List<RunningCall> running = surroundings.running();
        int hung = hung(running, now);
        Evidence.Counts counts = countsSince(before, current, hung);
        keep(current);
        long asUsual = before == null ? 0 : late.usuallyLate(before.atNanos());
        long delayed = before == null ? 0 : late.delayed(before.atNanos(), now, counts.calls());
        long bad = Math.max(Math.max(0, counts.late() + delayed - asUsual), counts.failed()) + counts.refused();
        boolean areMany = bad >= FIRST_BAD && 100 * bad > counts.calls() + counts.refused();
        mayBegin = watch.isWarm() && (areMany || methods.isSuspected(seconds));
        boolean open =
                watch.second(counts.calls() + counts.refused(), bad, hung, methods.isAny(seconds, late::isExcused));
        Machine seen = process.read(open || fillingHeap.isSuspected());
        fillingHeap.second(seen);
        records.allocations().second(open || fillingHeap.isSuspected(), now);
        if (before != null) {
            history.add(History.Figures.of(wall.instant(), before, current, counts, seen));
        }
        check.look(List.copyOf(current.pools().values()), meters.served().p99Millis(), now);
        if (before != null && !watch.isWarm()) {
            updater.learnStart(before);
        }
        if (watch.isHealthy()) {
            updater.learn(now, before, current, counts, seen, outside(now));
        } else if (before != null && (!watch.isWarm() || (since != null && now - sinceNanos > LONG_MISS_NANOS))) {
            updater.learnSlowMethods(before, current, counts, watch.isWarm());
        }
        if (open) {
            if (since != null && watch.isNew()) {
                end(now);
            }
            if (since == null) {
                begin(now);
            }
            // In a second in which calls meet the target, no new causes are determined: the few late calls from the
            // last seconds do not show why calls missed the target.
            if (watch.isMissed()) {
                diagnose(now, current, running, hung, seen);
            }
        } else {
            if (since != null) {
                end(now);
            }
            latest = withIgnored(watch.isWarm() ? healthy(seen) : Diagnosis.quiet());
        }
    }

    private int hung(List<RunningCall> running, long now) {
        return hungCalls.count(running, call -> late.isExcused(LateCalls.soFar(call, now)), late.areWorkersFull(), now);
    }

    private static Evidence.Counts countsSince(@Nullable CounterSnapshot before, CounterSnapshot current, int hung) {
        return before == null ? new Evidence.Counts(0, 0, 0, 0, hung) : current.since(before, hung);
    }

    private void keep(CounterSnapshot current) {
        seconds.addLast(current);
        if (seconds.size() > KEPT_SECONDS) {
            seconds.removeFirst();
        }
    }

    private MissReport.Begun begun(long now) {
        return new MissReport.Begun(
                since == null ? wall.instant() : since,
                TimeUnit.NANOSECONDS.toSeconds(now - sinceNanos),
                targetNanos / 1e6,
                updater.usualP99());
    }

    /**
     * Diagnoses late calls while the heap is exhausted. The usual diagnosis allocates a lot of memory, so it would take
     * too long.
     */
    private void diagnoseExhaustion(long now, double share) {
        List<RunningCall> running = surroundings.running();
        int hung = hung(running, now);
        CounterSnapshot before = seconds.peekLast();
        Map<String, PoolSnapshot> pools = before == null ? Map.of() : before.pools();
        CounterSnapshot current =
                new CounterSnapshot(now, records.sums(), limited.counted(surroundings.refused()), pools);
        Evidence.Counts counts = countsSince(before, current, hung);
        keep(current);
        long bad = Math.max(counts.late(), counts.failed()) + counts.refused();
        boolean open = watch.second(counts.calls() + counts.refused(), bad, hung, false);
        if (!open && !(watch.isWarm() && bad + hung > 0)) {
            if (since != null) {
                end(now);
            }
            return;
        }
        if (since == null) {
            begin(now);
        }
        diagnosedNanos = now;
        latest = report.add(
                begun(now),
                counts,
                running.stream().map(RunningCall::method).distinct().toList(),
                exhaustedHeap.cause(running, share),
                watch.isWarm(),
                wall.instant());
    }

    private void begin(long now) {
        updater.missBegins();
        since = wall.instant();
        sinceNanos = now;
    }

    private void end(long now) {
        report.end(TimeUnit.NANOSECONDS.toSeconds(now - sinceNanos));
        since = null;
        latest = Diagnosis.healthy(Duration.ofNanos(targetNanos));
        sampler.clear();
        heldRows.clear();
        observedPools.clear();
    }

    private CounterSnapshot read(long now) {
        return new CounterSnapshot(
                now, records.sums(), Map.copyOf(surroundings.refused()), observedPools.snapshots(now));
    }

    /**
     * Returns whether enough of the late and failed calls were sampled. If calls are frequent, newer calls may already
     * have replaced the records of the sampled calls.
     */
    private boolean areSampled(List<EndedCall> bad) {
        return bad.stream()
                        .filter(call -> sampler.samples().containsKey(call.ledger()))
                        .limit(SAMPLED_CALLS)
                        .count()
                == SAMPLED_CALLS;
    }

    private void diagnose(long now, CounterSnapshot current, List<RunningCall> running, int hung, Machine seen) {
        long from = Math.max(now - WINDOW_NANOS, sinceNanos - TimeUnit.SECONDS.toNanos(3));
        CounterSnapshot start = CounterSnapshot.first(seconds, from, current);
        double length = Math.max(1, (current.atNanos() - start.atNanos()) / 1e9);
        Evidence.Counts counts = current.since(start, hung);
        counts = counts.withLate(late.delayed(start.atNanos(), now, counts.calls()));
        List<EndedCall> bad = late.since(from, now, running, counts, counts.calls() / length, seen);
        if (bad.isEmpty() && counts.refused() == 0) {
            return; // If there is no new evidence, the last diagnosis stays published.
        }
        if (!areSampled(bad)) {
            sampler.look(running, now);
        }
        Evidence evidence = new Evidence(
                targetNanos,
                length,
                now - sinceNanos,
                bad,
                records.good(from),
                records.badAdmitted(now - EARLIER_NANOS),
                records.good(now - EARLIER_NANOS),
                sampler.samples(),
                sampler.tasks(),
                heldRows,
                surroundings.logging(),
                late.ages(records.ages(now), from, bad),
                records.trace().since(now - REPLAYED_NANOS),
                usual,
                process,
                observedPools.since(start, running),
                current.refusedSince(start),
                counts,
                updater.withUsual(seen),
                records.answers(surroundings.answers(), surroundings.servers()),
                rates.between(start, current, seconds, records.limits(), now - sinceNanos),
                surroundings.timeLimits(),
                outside(now),
                process.openFiles(),
                updater.allocations());
        Ranking ranking = new Ranking(evidence, now);
        boolean isRequested = seen.isCollecting() && CollectorText.REQUESTED.equals(seen.collectionCause());
        if (isRequested && recording.maySearch(now, sinceNanos, seen)) {
            process.searchExplicitCollections();
        }
        boolean isOfMemory = seen.isHeapFilling() || (seen.collecting() > 0 && seen.isCollecting());
        if (isOfMemory && recording.maySearchCheaply()) {
            process.searchObjects();
        }
        if (recording.isDue(now, sinceNanos)) {
            record();
        }
        diagnosedNanos = now;
        latest = withIgnored(report.add(
                begun(now), counts, bad, ranking, seen.missing(), watch.isDeclining(), watch.isWarm(), wall.instant()));
        latest = fillingHeap.noted(latest, seen);
        check.advised(latest.causes().get(0).change());
    }

    private Diagnosis withIgnored(Diagnosis diagnosis) {
        String ignored = hungCalls.ignored();
        String files = process.openFiles().warning();
        Diagnosis noted = ignored.isEmpty() ? diagnosis : diagnosis.withNote(ignored);
        return files.isEmpty() || noted.text().contains(files) ? noted : noted.withNote(files);
    }

    /** Returns the current times of operations run by threads that serve no call. */
    private List<OutsideOperations.Timed> outside(long now) {
        List<OutsideOperations.Timed> outside = new ArrayList<>(OutsideOperations.timed(System.nanoTime()));
        outside.addAll(remote.timed(now));
        return outside;
    }

    private Diagnosis healthy(Machine seen) {
        Diagnosis healthy = Diagnosis.healthy(Duration.ofNanos(targetNanos));
        return fillingHeap
                .added(healthy, seen, sampler.samples().values(), updater.allocations())
                .withRefusedOrFailed(lastMinute.lines());
    }
}
