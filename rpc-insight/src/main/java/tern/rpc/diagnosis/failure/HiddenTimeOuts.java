package tern.rpc.diagnosis.failure;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;

/**
 * Recognizes timeouts that application code hides: the code catches the exception of a timeout, and throws its own
 * exception without a cause. In all calls ended by such a timeout, the operation ends after the same time, and nearly
 * all answers take less time. If the code instead throws its exception because of the content of the answer, the
 * operation takes as long as in other calls.
 */
public final class HiddenTimeOuts {

    private static final int MIN_CALLS = 5;
    private static final int MAX_CALLS = 512;

    /**
     * Operations count as ending after the same time if each is shorter than the median by at most {@value} of the
     * median.
     */
    private static final double SAME = 0.1;

    /**
     * A timeout is assumed even if one in {@value} operations ended earlier than the others, because it may have ended
     * for a different reason.
     */
    private static final int ONE_IN = 20;

    /**
     * A timeout is assumed only if operations take at least {@value} ns until they end. Shorter operations often take
     * the same time even without a timeout.
     */
    private static final double MIN_NANOS = 10e6;

    /** A timeout is assumed only if half of the answers take at most {@value} of the timeout. */
    private static final double SHORTER = 0.9;

    /**
     * A timeout is assumed only if the 90th percentile of the answers' times is at least {@value} of the timeout, and
     * at most slightly longer than the timeout.
     */
    private static final double NEAR = 0.7;

    private static final Set<Phase> OPERATIONS = Set.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC);

    private final List<EndedCall> bad;
    private final List<EndedCall> good;

    /**
     * @param bad late or failed calls
     * @param good calls that met the target
     */
    public HiddenTimeOuts(List<EndedCall> bad, List<EndedCall> good) {
        this.bad = bad;
        this.good = good;
    }

    /** Calls to one method that failed in the same way after the same operation. */
    private record Group(String method, Part failure, Phase phase, String operation) {}

    /**
     * Returns the calls that a hidden timeout ended, with the operation that timed out. Includes the calls of
     * {@link ConnectTimeOuts}. Compares calls by identity.
     */
    public Map<EndedCall, Part> find() {
        Map<Group, List<EndedCall>> groups = new HashMap<>();
        bad.stream().filter(call -> call.failure() != null).limit(MAX_CALLS).forEach(call -> {
            NamedTimes.Entry longest = longest(call);
            Part failure = longest == null || !FailurePart.isOfOwnCode(call) ? null : FailurePart.of(call);
            if (longest != null && failure != null) {
                groups.computeIfAbsent(
                                new Group(call.method(), failure, longest.kind(), longest.name()),
                                group -> new ArrayList<>())
                        .add(call);
            }
        });
        Map<EndedCall, Part> found = ConnectTimeOuts.find(bad);
        groups.forEach((group, calls) -> {
            if (areCutOff(group.phase(), group.operation(), calls)) {
                calls.forEach(call -> found.put(call, Account.part(group.phase(), group.operation())));
            }
        });
        return found;
    }

    /**
     * Returns the operation that took at least half of the call's time; null if there is none, or if the call retried
     * this operation.
     */
    private static NamedTimes.@Nullable Entry longest(EndedCall call) {
        return call.ledger().named().stream()
                .filter(entry -> OPERATIONS.contains(entry.kind())
                        && entry.count() == 1
                        && 2 * entry.nanos() >= call.tookNanos()
                        && !entry.name().equals(NamedTimes.OTHERS)
                        && !OperationNames.isFailing(entry.name()))
                .max(Comparator.comparingLong(NamedTimes.Entry::nanos))
                .orElse(null);
    }

    private boolean areCutOff(Phase phase, String operation, List<EndedCall> calls) {
        if (calls.size() < MIN_CALLS) {
            return false;
        }
        double[] nanos = calls.stream()
                .map(HiddenTimeOuts::longest)
                .mapToDouble(entry -> entry == null ? 0 : (double) entry.nanos())
                .sorted()
                .toArray();
        // A timeout may end an operation too late, for example on a busy machine, but never too early.
        double timeout = nanos[nanos.length / 2];
        double earlier = timeout - nanos[nanos.length / ONE_IN];
        if (timeout < MIN_NANOS || earlier > SAME * timeout) {
            return false;
        }
        AnswerTimes answers = AnswerTimes.of(
                bad.stream().filter(call -> call.failure() == null).toList(), good, phase, operation);
        return answers.areEnough()
                && answers.medianNanos() <= SHORTER * timeout
                && answers.slowNanos() >= NEAR * timeout
                && answers.slowNanos() <= timeout + SAME * timeout;
    }
}
