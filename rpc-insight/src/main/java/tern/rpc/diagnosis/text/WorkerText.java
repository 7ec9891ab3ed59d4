package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.QueueModel;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.MoreCalls;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.remedy.Remedy;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * Creates the text for late calls waiting for a worker, if no slow activity of the calls explains the wait. The text
 * recommends a number of workers.
 */
final class WorkerText {

    /** More workers are recommended only if a call that has a worker takes at most {@value} of the latency target. */
    private static final double FULL = 0.8;

    /** The number of calls counts as higher than usual if it is at least {@value} times the usual number. */
    private static final double MORE = 1.5;

    /** A wait for a worker counts as noticeable if it takes at least {@value} of the latency target. */
    private static final double WAITED = 0.1;

    private static final int MAX_WORKERS = 10_000;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final @Nullable ObservedPool pool;
    private final double perSecond;
    private final double usuallyPerSecond;
    private final @Nullable MethodRate more; // the method called more often than usual; null if there is none
    private final double serviceNanos; // how long a late call occupies a worker

    WorkerText(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
        this.pool = evidence.workers();
        this.perSecond = (evidence.calls().calls() + evidence.calls().refused()) / evidence.seconds();
        this.usuallyPerSecond = evidence.usual().figure("calls");
        this.more = new MoreCalls(evidence, excess).method();
        this.serviceNanos = excess.account.sum() - excess.account.of(Part.of(Kind.QUEUE));
    }

    private boolean areMoreCalls() {
        return more != null || areMoreThanUsual();
    }

    private boolean areMoreThanUsual() {
        return usuallyPerSecond > 0
                && perSecond > MORE * usuallyPerSecond
                && !MethodRate.wereAsMany(evidence.rates(), perSecond);
    }

    /** Returns the kind of the cause, such as {@code NO FREE WORKER}. */
    String kind() {
        return areMoreCalls() ? "MORE CALLS" : "NO FREE WORKER";
    }

    /** Returns the name of the cause: the callers if there are more calls than usual, otherwise the worker pool. */
    String name() {
        if (areMoreCalls()) {
            return more == null ? "callers" : "callers of " + more.method();
        }
        return pool == null ? "workers" : pool.now().name();
    }

    List<String> facts() {
        List<String> facts = new ArrayList<>();
        facts.add(String.format(
                Locale.ROOT,
                "rate     %.0f calls/s%s",
                perSecond,
                usuallyPerSecond > 0 ? String.format(Locale.ROOT, ", usually %.0f", usuallyPerSecond) : ""));
        if (more != null) {
            facts.addAll(MoreCalls.facts(more));
        }
        facts.add(String.format(Locale.ROOT, "a call   %.1f ms with a worker", serviceNanos / 1e6));
        if (pool != null) {
            PoolSnapshot now = pool.now();
            facts.add("workers  " + now.active() + " of " + now.max() + " busy, " + now.waiting() + " calls wait");
        }
        return facts;
    }

    Change change() {
        if (pool == null || (more != null && !isWaitedFor())) {
            return areMoreCalls()
                    ? callers(perSecond / usuallyPerSecond)
                    : Change.of(Where.UNKNOWN, "use more threads in the server, or send fewer concurrent calls");
        }
        double busy = perSecond * serviceNanos / 1e9;
        Remedy.Size size = size(pool, busy);
        Change replayed = size == null ? null : size.change();
        Change former = areMoreCalls() ? null : FormerSize.of(pool, busy, replayed);
        Change sized = former != null ? former : replayed;
        if (sized != null) {
            return sized;
        }
        if (evidence.machine().isFull()) {
            return Change.of(
                    Where.MACHINE,
                    "use more processors or send fewer calls: the processors are busy, and more threads would make it"
                            + " worse");
        }
        if (areMoreCalls()) {
            return callers(perSecond / usuallyPerSecond);
        }
        return busy >= FULL * pool.now().max() ? moreWorkers(pool.now()) : bursts();
    }

    /**
     * Returns a number of workers that lets the replayed calls meet the target; null if there is none.
     *
     * @param busy the mean number of workers that the current calls need
     */
    private Remedy.@Nullable Size size(ObservedPool workers, double busy) {
        double room = evidence.targetNanos() - serviceNanos;
        int wanted = room <= 0 ? -1 : QueueModel.placesFor(busy, serviceNanos, room / 2, MAX_WORKERS);
        if (wanted < 0 || serviceNanos > FULL * evidence.targetNanos()) {
            return null;
        }
        int atOnce =
                (int) Math.min(MAX_WORKERS, Math.ceil(callsAtOnce() * serviceNanos / (FULL * evidence.targetNanos())));
        return new Remedy(evidence).of(workers, PoolSetting.Use.MAX, Math.max(wanted, atOnce));
    }

    /**
     * Returns the mean number of late calls that run or wait at the same time. The rate of calls is not sufficient to
     * compute the number of workers: callers that wait for each answer send their next calls sooner if there are more
     * workers.
     */
    private double callsAtOnce() {
        return evidence.calls().late() / evidence.seconds() * excess.account.sum() / 1e9;
    }

    private Change moreWorkers(PoolSnapshot workers) {
        PoolSetting setting = workers.setting(PoolSetting.Use.MAX).orElse(null);
        String now = setting == null || !setting.property().contains(".")
                ? "\"" + workers.name() + "\" has " + workers.max() + " now"
                : setting.property() + "=" + setting.value() + " now";
        return Change.of(
                Where.CODE,
                "use more workers (" + now + ") or make calls shorter: all workers are busy with calls of "
                        + Times.millis(serviceNanos) + " ms; no number is recommended, because no replay of these"
                        + " calls confirms one");
    }

    private static Change bursts() {
        return Change.of(
                Where.PEER, "calls come in bursts: limit them in the caller, or add an instance of this server");
    }

    /** Returns whether the time that calls wait for a worker is a noticeable share of the latency target. */
    private boolean isWaitedFor() {
        return excess.account.of(Part.of(Kind.QUEUE)) > WAITED * evidence.targetNanos();
    }

    private Change callers(double times) {
        if (more != null) {
            return Change.of(Where.PEER, MoreCalls.change(more));
        }
        return Change.of(
                Where.PEER,
                "the caller sends " + Math.round(times)
                        + " times the usual calls: limit it there, or add an instance of this server");
    }
}
