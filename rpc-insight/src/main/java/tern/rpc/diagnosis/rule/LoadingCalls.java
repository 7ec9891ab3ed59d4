package tern.rpc.diagnosis.rule;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tern.rpc.CallLedger;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.sample.LikelyHolders;

/**
 * Attributes waits for a result to the work of another call that produces the result. In a cache, for example, one call
 * loads a value while the other calls that need the value wait.
 */
final class LoadingCalls extends Rule {

    /**
     * Calls count as loading calls only if at least {@value} samples, taken at different times, show one of them at
     * work while others wait.
     */
    private static final int MIN_LOOKS = 3;

    /**
     * Three conditions use this value. A call waits for a result if the wait takes at least half of the call's time. A
     * different call loads the result if at least half of the samples show it at work. The work of the loading call
     * explains the wait if it takes at least half of the mean wait.
     */
    private static final double HALF = 0.5;

    /** An activity of the loading calls is ignored if it takes less than {@value} of their time. */
    private static final double LITTLE = 0.1;

    LoadingCalls(Rule other) {
        super(other);
    }

    void apply() {
        for (Part part : byCause.longestFirst()) {
            if (part.kind() == Kind.RESULT && !HolderRules.isQueue(part, excess.samples)) {
                byCause.pour(
                        part, workFor(part), TimesByCause.WAIT_FOR + "the result of another call, in " + part.name());
            }
        }
    }

    /** Returns the work of the calls that produce results that other calls wait for; empty if there are none. */
    private Times workFor(Part wait) {
        List<CallLedger> waiters = new ArrayList<>();
        List<ExcessTime.Counted> others = new ArrayList<>();
        double waited = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            double ofCall = counted.times().of(wait);
            if (ofCall >= HALF * counted.call().tookNanos()) {
                waiters.add(counted.call().ledger());
                waited += ofCall;
            } else if (ofCall < LITTLE * counted.call().tookNanos()) {
                others.add(counted);
            }
        }
        Times work = new Times();
        Set<CallLedger> loading = loading(wait, waiters, others);
        for (ExcessTime.Counted counted : others) {
            Times done = counted.times().only(LoadingCalls::isWork);
            if (loading.contains(counted.call().ledger()) && done.sum() * waiters.size() >= HALF * waited) {
                work.addAll(done, 1);
            }
        }
        double threshold = LITTLE * work.sum();
        return work.only(part -> work.of(part) >= threshold);
    }

    /**
     * Returns the calls that were working in or below the waiting code while others waited there. Returns an empty set
     * if working calls were found at fewer than half of the times when waiting calls were sampled.
     */
    private Set<CallLedger> loading(Part wait, List<CallLedger> waiters, List<ExcessTime.Counted> others) {
        Map<Sample, CallLedger> calls = new IdentityHashMap<>();
        List<Sample> samples = new ArrayList<>();
        Set<Long> looks = new HashSet<>();
        for (CallLedger waiter : waiters) {
            for (Sample sample : excess.samples.list(waiter)) {
                if (sample.part().equals(wait)) {
                    samples.add(sample);
                    looks.add(sample.atNanos());
                }
            }
        }
        for (ExcessTime.Counted other : others) {
            CallLedger ledger = other.call().ledger();
            for (Sample sample : excess.samples.list(ledger)) {
                if (looks.contains(sample.atNanos())) {
                    samples.add(sample);
                    calls.put(sample, ledger);
                }
            }
        }
        Set<Long> found = new HashSet<>();
        Set<CallLedger> loading = Collections.newSetFromMap(new IdentityHashMap<>());
        for (Sample sample : LikelyHolders.holders(wait, samples)) {
            CallLedger ledger = calls.get(sample);
            if (ledger != null) {
                found.add(sample.atNanos());
                loading.add(ledger);
            }
        }
        return found.size() >= MIN_LOOKS && found.size() >= HALF * looks.size() ? loading : Set.of();
    }

    private static boolean isWork(Part part) {
        return switch (part.kind()) {
            case QUEUE, RESULT, ELSEWHERE, UNEXPLAINED -> false;
            default -> true;
        };
    }
}
