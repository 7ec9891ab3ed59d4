package tern.rpc.diagnosis.calls;

import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tern.rpc.CallLedger;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Shares;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.sample.SampledCall;

/**
 * Divides the extra time (above the usual time) that late or failed calls spent outside of operations into activities
 * and waits. For normal calls, only the sum of the time outside of operations is known. Samples of calls that met the
 * latency target show how this sum is usually divided. The diagnosis therefore does not blame a wait that all calls
 * contain.
 */
public final class UsualOwnTimes {

    /**
     * The minimum number of samples of a method's calls that met the latency target. Fewer samples do not show how the
     * calls spend their time.
     */
    private static final int MIN_LOOKS = 8;

    private static final UsualOwnTimes UNKNOWN = new UsualOwnTimes(Map.of());

    // for each method, the weights of the activities and waits of calls that met the target
    private final Map<String, Times> weights;

    private UsualOwnTimes(Map<String, Times> weights) {
        this.weights = weights;
    }

    /**
     * Creates an instance from the samples of calls that met the target. Ignores the samples of the given late or
     * failed calls.
     *
     * @param samples the samples of all sampled calls, including calls that met the latency target
     */
    public static UsualOwnTimes of(List<EndedCall> bad, Map<CallLedger, SampledCall> samples, long targetNanos) {
        Set<CallLedger> late = Collections.newSetFromMap(new IdentityHashMap<>());
        bad.forEach(call -> late.add(call.ledger()));
        Map<String, Shares> shares = new HashMap<>();
        samples.forEach((ledger, ofCall) -> {
            if (!late.contains(ledger) && ledger.isEnded() && measuredNanos(ledger) <= targetNanos) {
                shares.computeIfAbsent(ofCall.method, name -> new Shares()).add(ofCall.ofCall(ledger));
            }
        });
        shares.values()
                .removeIf(ofMethod ->
                        ofMethod.ownLooks() < MIN_LOOKS || ofMethod.own().isEmpty());
        if (shares.isEmpty()) {
            return UNKNOWN;
        }
        Map<String, Times> weights = new HashMap<>();
        shares.forEach((method, ofMethod) -> weights.put(method, ofMethod.own()));
        return new UsualOwnTimes(weights);
    }

    /**
     * Returns the sum of the times of all phases in the ledger. If the call ran operations in parallel, the sum is
     * longer than the time of the call.
     */
    private static long measuredNanos(CallLedger ledger) {
        long sum = 0;
        for (Phase phase : Phase.values()) {
            sum += ledger.nanos(phase, ledger.endedNanos());
        }
        return sum;
    }

    /**
     * Returns the time by which calls exceed their usual time outside of operations, by activity or wait. If it is
     * unknown how the usual time is divided, this time is divided in proportion to the whole time of each activity or
     * wait.
     *
     * @param mean the mean time of late or failed calls by activity or wait
     * @param usualNanos the usual time outside of operations
     */
    public Times above(String method, Times mean, double usualNanos) {
        Times own = mean.only(Baseline::isOwn);
        double extra = own.sum() - usualNanos;
        if (extra <= 0) {
            return new Times();
        }
        Times usual = weights.get(method);
        if (usual == null) {
            own.scale(extra / own.sum());
            return own;
        }
        // The processor times of all code are added up before they are compared with the usual times, because the
        // samples of late calls may attribute the same code to its caller.
        double computingRatio = usual.sum(Part.Kind.COMPUTING) / own.sum(Part.Kind.COMPUTING);
        Times above = new Times();
        for (Part part : own.longestFirst()) {
            double weight = part.kind() == Part.Kind.COMPUTING ? computingRatio * own.of(part) : usual.of(part);
            above.add(part, own.of(part) - usualNanos * weight / usual.sum());
        }
        above.scale(extra / above.sum());
        return above;
    }
}
