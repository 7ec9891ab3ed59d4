package tern.rpc.diagnosis.excess;

import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.Baseline;
import tern.rpc.diagnosis.failure.ConnectTimeOuts;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.HiddenTimeOuts;
import tern.rpc.diagnosis.failure.LocalRefusals;
import tern.rpc.diagnosis.stack.LibraryWaits;

/**
 * Attributes the failures of calls to activities and waits. The exception of a failed call often does not show the
 * reason, for example because application code throws its own exception after a failed operation or a long wait.
 */
final class FailureReasons {

    /** The kinds of waits that may end because application code gives up and throws an exception. */
    private static final Set<Part.Kind> GIVEN_UP = Set.of(Part.Kind.LOCK, Part.Kind.RESULT, Part.Kind.POOL);

    /**
     * The kinds of work that may end because application code gives up and throws an exception. Work explains a failure
     * only if no other reason is known.
     */
    private static final Set<Part.Kind> GIVEN_UP_WORK =
            Set.of(Part.Kind.SQL, Part.Kind.REDIS, Part.Kind.HTTP, Part.Kind.RPC, Part.Kind.SLEEP, Part.Kind.ELSEWHERE);

    /** Work can be the cause of a failure only if it took at least {@value} times its usual time. */
    private static final double LONGER = 1.5;

    private final Evidence evidence;
    private final CallTimes calls;

    /**
     * For each failed call, the activity or wait that explains its failure. The result is stored, because inspecting a
     * call's exceptions takes a long time.
     */
    private final Map<EndedCall, Optional<Part>> failures = new IdentityHashMap<>();

    private final Map<EndedCall, Optional<Part>> timeOuts = new IdentityHashMap<>();
    private final Map<EndedCall, Part> hiddenTimeOuts;

    FailureReasons(Evidence evidence, CallTimes calls) {
        this.evidence = evidence;
        this.calls = calls;
        this.hiddenTimeOuts = new HiddenTimeOuts(evidence.bad(), evidence.good()).find();
    }

    /**
     * Returns the activity or wait that explains the call's failure. Returns null if the call did not fail, or if a
     * timeout ended the call because the call took too long.
     */
    @Nullable
    Part of(EndedCall call) {
        return call.failure() == null
                ? null
                : failures.computeIfAbsent(call, failed -> Optional.ofNullable(readFailure(failed)))
                        .orElse(null);
    }

    private @Nullable Part readFailure(EndedCall call) {
        Part failure = FailurePart.of(call);
        Part pause = PausedFailures.of(call, failure, evidence);
        if (failure == null || pause != null || ConnectTimeOuts.isOne(failure, hiddenTimeOuts.get(call))) {
            return pause == null ? timedOut(call) : pause;
        }
        if (FailurePart.isOfOwnLimit(call)) {
            return failure;
        }
        if (failure.kind() == Part.Kind.FAILURE || failure.kind() == Part.Kind.LIMIT) {
            // A rate limiter refuses a call because of the number of calls, even if the call first waited for a permit.
            Part waited = LocalRefusals.of(failure) == LocalRefusals.Limiter.RATE ? null : longWait(call);
            Part reason = waited != null ? waited : failedOperation(call, failure);
            return reason != null ? reason : hiddenTimeOuts.getOrDefault(call, failure);
        }
        return failure.kind() == Part.Kind.POOL ? ofPool(call, calls.pool(failure)) : failure;
    }

    /**
     * Returns the wait for a pool that made the call fail. Exceptions do not name the pool. If the call's thread waited
     * longer for a pool that Tern does not measure, that pool had no free connection.
     *
     * @param measured the wait for the measured pool of the same kind
     */
    private Part ofPool(EndedCall call, Part measured) {
        Times times = calls.accountOf(call);
        return times.only(LibraryWaits::isOwnPool).longestFirst().stream()
                .findFirst()
                .filter(unmeasured -> times.of(unmeasured) > times.of(measured))
                .orElse(measured);
    }

    /**
     * Returns the activity or wait that a timeout ended. Returns null if no timeout ended the call, or if the call was
     * late and took longer than usual, because its duration then explains the failure. If no operation timed out but
     * the call was slow, returns the activity or wait whose time exceeds its usual time the most.
     */
    private @Nullable Part timedOut(EndedCall call) {
        Part part = timedOutPart(call);
        Times usual = calls.usualOf(call.method());
        boolean isLate = call.tookNanos() > evidence.targetNanos();
        if (part == null || (isLate && !isAsUsual(call, usual))) {
            return null;
        }
        if (usual == null || part.kind() != Part.Kind.TIMEOUT || !isSlower(call, usual)) {
            return part;
        }
        Times longer =
                calls.above(call.method(), calls.accountOf(call)).only(one -> one.kind() != Part.Kind.UNEXPLAINED);
        return longer.isEmpty() ? part : longer.longestFirst().get(0);
    }

    private static boolean isAsUsual(EndedCall call, @Nullable Times usual) {
        return usual != null && call.tookNanos() <= Baseline.AS_USUAL * usual.sum();
    }

    /**
     * Returns whether the call took longer than the slowest tenth of the normal calls take on average, or at least one
     * and a half times as long as usual.
     */
    private boolean isSlower(EndedCall call, Times usual) {
        Times slow = evidence.usual().ofSlowCalls(call.method());
        boolean isAboveSlow = slow != null
                && call.tookNanos() > slow.sum()
                && call.tookNanos() > Baseline.SLOWER_THAN_USUAL * usual.sum();
        return isAboveSlow || call.tookNanos() >= LONGER * usual.sum();
    }

    /** Returns the activity or wait that a timeout ended; null if no timeout ended the call. */
    @Nullable
    Part timedOutPart(EndedCall call) {
        return timeOuts.computeIfAbsent(
                        call,
                        ended -> PausedFailures.of(ended, null, evidence) != null
                                ? Optional.empty()
                                : Optional.ofNullable(FailurePart.timedOut(ended))
                                        .or(() -> Optional.ofNullable(hiddenTimeOuts.get(ended))))
                .orElse(null);
    }

    /**
     * Returns the call's failed operation; null if no operation failed. Application code often throws its own exception
     * after a failed operation. If the exception shows a programming error, a failed statement or command is not its
     * reason.
     */
    private static @Nullable Part failedOperation(EndedCall call, Part failure) {
        boolean ofStores = failure.kind() == Part.Kind.LIMIT || FailurePart.isOfOwnCode(call);
        return call.ledger().named().stream()
                .filter(entry -> OperationNames.isFailing(entry.name()))
                .filter(entry -> entry.kind() == Phase.HTTP
                        || entry.kind() == Phase.RPC
                        || (ofStores && (entry.kind() == Phase.SQL || entry.kind() == Phase.REDIS)))
                .max(Comparator.comparingLong(NamedTimes.Entry::nanos))
                .map(entry -> FailurePart.ofOperation(entry.kind(), entry.name()))
                .orElse(null);
    }

    /**
     * Returns the wait that ended because the code of a failed call gave up and threw an exception; null if there is
     * none. The wait must have taken at least half of the call's time and at least as long as the latency target.
     */
    private @Nullable Part longWait(EndedCall call) {
        Times times = calls.accountOf(call);
        Part longest = times.isEmpty() ? null : times.longestFirst().get(0);
        boolean gaveUp = longest != null
                && (GIVEN_UP.contains(longest.kind()) || isGivenUpWork(call, longest, times))
                && times.of(longest) >= evidence.targetNanos()
                && 2 * times.of(longest) >= call.tookNanos();
        return gaveUp ? longest : null;
    }

    private boolean isGivenUpWork(EndedCall call, Part work, Times times) {
        Times usual = calls.usualOf(call.method());
        return GIVEN_UP_WORK.contains(work.kind())
                && FailurePart.isOfOwnCode(call)
                && (usual == null || times.of(work) >= LONGER * usual.of(work));
    }
}
