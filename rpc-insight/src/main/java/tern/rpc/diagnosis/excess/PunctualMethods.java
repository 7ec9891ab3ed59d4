package tern.rpc.diagnosis.excess;

import java.util.Set;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.MethodRate;

/**
 * The methods that are called often and whose calls all meet the latency target. The operations of these methods are
 * quick, even if too few of them were recorded to show it. Only some of the calls that meet the target are recorded.
 */
final class PunctualMethods {

    /**
     * Only methods with at least {@value} calls in the observed period are considered. Fewer calls do not show that a
     * method's operations are quick.
     */
    private static final double MIN_CALLS = 10;

    private final Evidence evidence;
    private final ExcessTime excess;

    PunctualMethods(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * Returns whether other operations of the given kind are run by punctual methods, that is, by methods whose calls
     * meet the target. Looks only at methods whose calls would be late if their operations had slowed down by
     * {@code longerNanos}.
     *
     * @param store the store or peer of the operations; empty for any store or peer
     * @param slow the names of the slow operations
     * @param longerNanos the least time by which a slow operation exceeds its usual time
     */
    boolean runOthers(Kind kind, String store, Set<String> slow, double longerNanos) {
        return evidence.rates().stream()
                .filter(rate -> rate.perSecond() * evidence.seconds() >= MIN_CALLS)
                .map(MethodRate::method)
                .filter(method -> !excess.badByMethod().containsKey(method))
                .anyMatch(method -> {
                    Times usual = evidence.usual().of(method);
                    return usual != null
                            && usual.sum() + longerNanos > evidence.targetNanos()
                            && usual.sum(part -> isOther(part, kind, store, slow)) > 0;
                });
    }

    private static boolean isOther(Part part, Kind kind, String store, Set<String> slow) {
        return part.kind() == kind
                && !part.name().isEmpty()
                && slow.stream().noneMatch(name -> OperationNames.isNamed(part.name(), name))
                && (store.isEmpty() || OperationNames.store(part.name()).equals(store));
    }
}
