package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;
import tern.rpc.diagnosis.CauseText.Told;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.PoolKind;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/** Describes waits for a worker that no slow part of the calls explains, and recommends a number of workers. */
final class WorkerText {

    /** More workers are recommended only if a call that has a worker takes at most this share of the latency target. */
    private static final double FULL = 0.8;

    /** The number of calls is considered higher than usual if it is at least this multiple of the usual number. */
    private static final double MORE = 1.5;

    private static final int MAX_WORKERS = 10_000;

    private final Evidence evidence;
    private final Excess excess;

    WorkerText(Evidence evidence, Excess excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    Told told() {
        PoolLook look = pool();
        double perSecond = (evidence.calls().calls() + evidence.calls().refused()) / evidence.seconds();
        double serviceNanos = excess.account.sum() - excess.account.of(Part.of(Kind.QUEUE));
        double usualRate = evidence.usual().figure("calls");
        List<String> facts = new ArrayList<>();
        facts.add(String.format(
                Locale.ROOT, "rate     %.0f calls/s%s", perSecond, usualRate > 0 ? usually(usualRate) : ""));
        facts.add(String.format(Locale.ROOT, "a call   %.1f ms with a worker", serviceNanos / 1e6));
        boolean more = usualRate > 0 && perSecond > MORE * usualRate;
        if (look == null) {
            return new Told(
                    more ? "MORE CALLS" : "NO FREE WORKER",
                    more ? "callers" : "workers",
                    more
                            ? callers(perSecond / usualRate)
                            : Change.of(Where.UNKNOWN, "more threads in the server, or fewer calls at once"),
                    facts);
        }
        PoolSnapshot workers = look.now();
        facts.add("workers  " + workers.active() + " of " + workers.max() + " busy, " + workers.waiting()
                + " calls wait");
        double busy = perSecond * serviceNanos / 1e9;
        Change change = size(look, busy, serviceNanos);
        if (change == null && evidence.machine().isFull()) {
            change = Change.of(
                    Where.MACHINE,
                    "more processors or fewer calls: the processors are busy, and more threads would make it worse");
        }
        if (change == null) {
            change = more
                    ? callers(perSecond / usualRate)
                    : busy >= FULL * workers.max() ? moreWorkers(workers, serviceNanos) : bursts();
        }
        return new Told(more ? "MORE CALLS" : "NO FREE WORKER", more ? "callers" : workers.name(), change, facts);
    }

    /** Returns the workers for which calls wait. A process may have workers of several servers. */
    private @Nullable PoolLook pool() {
        return evidence.pools().stream()
                .filter(pool -> pool.now().kind() == PoolKind.WORKERS)
                .max(Comparator.comparingInt(pool -> pool.now().waiting()))
                .orElse(null);
    }

    /** Returns the advice to set the number of workers to a value that passed the check; null if no value passed. */
    private @Nullable Change size(PoolLook look, double busy, double serviceNanos) {
        double room = evidence.targetNanos() - serviceNanos;
        int wanted = room <= 0 ? -1 : QueueModel.placesFor(busy, serviceNanos, room / 2, MAX_WORKERS);
        if (wanted < 0 || serviceNanos > FULL * evidence.targetNanos()) {
            return null;
        }
        int atOnce = (int) Math.min(
                MAX_WORKERS, Math.ceil(callsAtOnce() * serviceNanos / (FULL * evidence.targetNanos())));
        return PoolText.property(
                new Remedy(evidence).of(look, PoolSetting.Use.MAX, Math.max(wanted, atOnce)));
    }

    /**
     * Returns the mean number of late calls that run or wait at the same time. Callers that wait for each answer send
     * their next calls sooner if there are more workers, so the rate of calls alone is not sufficient.
     */
    private double callsAtOnce() {
        return evidence.calls().late() / evidence.seconds() * excess.account.sum() / 1e9;
    }

    private static Change moreWorkers(PoolSnapshot workers, double serviceNanos) {
        PoolSetting setting = workers.setting(PoolSetting.Use.MAX).orElse(null);
        String now = setting == null || !setting.property().contains(".")
                ? "\"" + workers.name() + "\" has " + workers.max() + " now"
                : setting.property() + "=" + setting.value() + " now";
        return Change.of(
                Where.CODE,
                "more workers (" + now + ") or shorter calls: all workers are busy with calls of "
                        + Times.millis(serviceNanos) + " ms; no number is given, because no replay of these calls"
                        + " confirms one");
    }

    private static Change bursts() {
        return Change.of(
                Where.PEER, "calls come in bursts: limit them in the caller, or another instance of this server");
    }

    private static Change callers(double times) {
        return Change.of(
                Where.PEER,
                "the caller sends " + Math.round(times)
                        + " times the usual calls: limit it there, or another instance of this server");
    }

    private static String usually(double rate) {
        return String.format(Locale.ROOT, ", usually %.0f", rate);
    }
}
