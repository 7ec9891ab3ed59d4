package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.machine.VmOperations;

/** Creates the cause descriptions for pauses of the JVM that are not caused by garbage collections. */
final class JvmPauses {

    /**
     * One JVM operation is reported as the cause of the pauses if it takes at least {@value} of the time of all JVM
     * operations. Operations that the diagnosis itself requests are counted separately.
     */
    private static final double HALF = 0.5;

    private final Evidence evidence;

    JvmPauses(Evidence evidence) {
        this.evidence = evidence;
    }

    /** @param code the code of calls that uses the most processor time; null if there is none */
    CauseDescription describe(@Nullable Part code) {
        Map<String, Double> operations = evidence.pauses().operations();
        List<String> facts = new ArrayList<>();
        double own = 0;
        double others = 0;
        Map.Entry<String, Double> longest = null;
        for (Map.Entry<String, Double> operation : operations.entrySet()) {
            if (VmOperations.isOwn(operation.getKey()) || evidence.pauses().isOfRecording(operation.getKey())) {
                own += operation.getValue();
                continue;
            }
            others += operation.getValue();
            facts.add(String.format(
                    Locale.ROOT,
                    "stopped  %.0f ms for %s in the last 15 s",
                    operation.getValue() / 1e6,
                    operation.getKey()));
            if (longest == null || operation.getValue() > longest.getValue()) {
                longest = operation;
            }
        }
        facts.sort(Comparator.naturalOrder());
        // A JVM operation that the diagnosis itself requested must not hide another operation that is almost as long.
        if (longest == null
                || longest.getValue() < Math.max(VmOperations.MIN_PAUSE_NANOS, HALF * Math.max(own, others))) {
            return late(code, facts);
        }
        return new CauseDescription(
                "JVM PAUSE", longest.getKey(), Change.of(Where.MACHINE, VmOperations.advice(longest.getKey())), facts);
    }

    /**
     * Returns the cause description for pauses that are not caused by a long JVM operation. In such a pause, the JVM
     * waited for threads that did not stop in time.
     */
    private static CauseDescription late(@Nullable Part code, List<String> facts) {
        return new CauseDescription(
                "JVM PAUSE",
                "pauses that no collector explains",
                Change.of(
                        Where.MACHINE,
                        "set -Xlog:safepoint to see what stops the JVM: an operation, such as the thread dumps of a"
                                + " tool, or threads that do not stop in time,"
                                + " as in a long counted loop, a large array copy or a page that is read from a disk"
                                + " (-XX:+SafepointTimeout -XX:SafepointTimeoutDelay=100 names them)"
                                + (code == null ? "" : "; check " + code.name() + " first")),
                facts);
    }
}
