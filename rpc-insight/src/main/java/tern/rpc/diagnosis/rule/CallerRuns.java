package tern.rpc.diagnosis.rule;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.pool.PoolVerdict;
import tern.rpc.diagnosis.sample.SampledCall;
import tern.rpc.pool.PoolKind;

/** Finds the executor with the caller-runs policy that makes the threads that serve calls run its rejected tasks. */
public final class CallerRuns {

    /** The recommended change mentions the caller-runs policy only if at least {@value} calls run rejected tasks. */
    private static final int MIN_CALLS = 3;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Map<String, PoolVerdict> pools;

    public CallerRuns(Evidence evidence, ExcessTime excess, Map<String, PoolVerdict> pools) {
        this.evidence = evidence;
        this.excess = excess;
        this.pools = pools;
    }

    /**
     * Returns the name of the executor whose rejected tasks are run by the most calls; null if it is unknown. The
     * ledgers of calls contain the names of measured executors.
     */
    public @Nullable String executor() {
        Map<String, Integer> calls = new TreeMap<>();
        excess.accounts.forEach(
                counted -> executorsOf(counted).distinct().forEach(name -> calls.merge(name, 1, Integer::sum)));
        String named = calls.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
        return named != null
                ? named
                : pools.values().stream()
                        .filter(pool -> pool.pool().since().callerRuns() > 0)
                        .max(Comparator.comparingLong(
                                pool -> pool.pool().since().callerRuns()))
                        .map(PoolVerdict::name)
                        .orElseGet(this::onlyFull);
    }

    private static Stream<String> executorsOf(ExcessTime.Counted counted) {
        String running = counted.call().ledger().running(Phase.CALLER_RUNS);
        return Stream.concat(
                Stream.ofNullable(running),
                counted.call().ledger().named().stream()
                        .filter(entry -> entry.kind() == Phase.CALLER_RUNS)
                        .map(NamedTimes.Entry::name));
    }

    /** Returns the only full executor; null if there is none, or if there are several. */
    private @Nullable String onlyFull() {
        List<PoolVerdict> full = pools.values().stream()
                .filter(pool -> pool.pool().now().kind() == PoolKind.EXECUTOR)
                .filter(pool -> pool.pool().now().active() >= pool.pool().now().max())
                .toList();
        return full.size() == 1 ? full.get(0).name() : null;
    }

    /**
     * Extends the recommended change if most of the calls that spend time on the given activity or wait run rejected
     * tasks of an executor.
     */
    public Change withPolicy(Change change, Part part) {
        if (change.property() != null
                || (!TasksOfCallers.WORK.contains(part.kind()) && part.kind() != Kind.PEER_FAILS)) {
            return change;
        }
        List<ExcessTime.Counted> calls = excess.accounts.stream()
                .filter(counted -> counted.times().of(part) > 0)
                .toList();
        long running = calls.stream().filter(this::runsRejectedTask).count();
        String executor = executor();
        return running < MIN_CALLS || 2 * running < calls.size()
                ? change
                : Change.of(
                        change.where(),
                        change.text() + "; calls run these tasks on their own threads because "
                                + (executor == null ? "an executor" : "\"" + executor + "\"")
                                + " is full and has the policy caller-runs: if calls need not wait for the tasks, use a"
                                + " policy that refuses or drops tasks, or a longer queue");
    }

    private boolean runsRejectedTask(ExcessTime.Counted counted) {
        SampledCall samples = evidence.samples().get(counted.call().ledger());
        return (samples != null && samples.ranRejectedTask)
                || executorsOf(counted).findAny().isPresent();
    }
}
