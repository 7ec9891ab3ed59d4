package tern.rpc.diagnosis.excess;

import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.calls.UsualOwnTimes;
import tern.rpc.diagnosis.pool.ObservedPool;
import tern.rpc.diagnosis.sample.CallSamples;

/** The times of single calls by activity or wait, compared with the usual times of their methods. In nanoseconds. */
final class CallTimes {

    private final Evidence evidence;
    private final CallSamples samples;
    private final UsualOwnTimes ownTimes;

    CallTimes(Evidence evidence, CallSamples samples) {
        this.evidence = evidence;
        this.samples = samples;
        this.ownTimes = UsualOwnTimes.of(evidence.bad(), evidence.samples(), evidence.targetNanos());
    }

    /** Returns the time of the given call by activity or wait. */
    Times accountOf(EndedCall call) {
        return named(Account.of(call, samples.of(call.ledger()), samples.of(call.method()), evidence.pauses()));
    }

    /**
     * Gives each wait for a pool the name of the pool. A wait that ended with a failure may have only a general name.
     */
    Times named(Times times) {
        Times named = new Times();
        for (Part part : times.longestFirst()) {
            named.add(part.kind() == Part.Kind.POOL ? pool(part) : part, times.of(part));
        }
        return named;
    }

    /** Returns the wait for the given pool. */
    Part pool(Part wait) {
        ObservedPool pool = ObservedPool.find(evidence.pools(), wait);
        return pool == null ? wait : new Part(Part.Kind.POOL, pool.now().name());
    }

    /**
     * Returns the usual time of each activity and wait of the method's calls. If the usual times have not been learned
     * yet, returns the mean over the calls in the observed period that met the latency target.
     */
    @Nullable
    Times usualOf(String method) {
        Times known = evidence.usual().of(method);
        if (known != null) {
            return named(known);
        }
        Times mean = new Times();
        int count = 0;
        for (EndedCall call : evidence.good()) {
            if (call.method().equals(method)) {
                mean.addAll(named(Account.of(call, evidence.pauses())), 1);
                count++;
            }
        }
        if (count == 0) {
            return null;
        }
        mean.scale(1.0 / count);
        return mean;
    }

    /** Returns the time above the usual time of the method's calls, by activity or wait. */
    Times above(String method, Times mean) {
        Times usual = usualOf(method);
        if (usual == null) {
            return mean;
        }
        Times excess = ownTimes.above(method, mean, usual.sum(Baseline::isOwn));
        for (Part part : mean.longestFirst()) {
            if (!Baseline.isOwn(part)) {
                excess.add(part, mean.of(part) - usual.of(part));
            }
        }
        return excess;
    }
}
