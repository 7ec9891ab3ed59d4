package tern.rpc.diagnosis.rule;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.LocalRefusals;
import tern.rpc.diagnosis.failure.LocalRefusals.Limiter;
import tern.rpc.diagnosis.stack.LibraryWaits;

/** Attributes refused calls to the work that makes the served calls slow, or makes them fail. */
final class RefusalRules extends Rule {

    /** The number of calls counts as usual if it is less than {@value} times the usual number. */
    private static final double MORE = 1.5;

    /** The served calls can explain the refusals if at least {@value} of them are late, fail or hang. */
    private static final double MANY_BAD = 0.1;

    /** Work counts as noticeable if it takes at least {@value} of the latency target. */
    private static final double NOTABLE = 0.1;

    /**
     * The reason why a circuit breaker opened is determined from the newest {@value} calls, at most, that show a
     * reason.
     */
    private static final int NEWEST = 32;

    /** Returns the reason why a call failed or was late; null if the call does not show one. */
    @FunctionalInterface
    private interface Reason {
        @Nullable
        Part of(EndedCall call);
    }

    RefusalRules(Rule other) {
        super(other);
    }

    /**
     * Finds the cause of refusals by a limit on concurrent calls, a bulkhead or a circuit breaker. If the admitted
     * calls are late or fail, the cause is the work that delays the admitted calls or makes them fail. If the admitted
     * calls are neither late nor failing, or if there are more calls than usual, the cause is the limit.
     */
    void apply() {
        for (Part part : byCause.longestFirst()) {
            Limiter limiter = LocalRefusals.of(part);
            if (limiter == Limiter.BREAKER) {
                passOnBreaker(part);
            } else if (limiter != null && limiter.isOfConcurrency()) {
                passOnBulkhead(part);
            }
        }
        passOnLimits();
    }

    private void passOnLimits() {
        Evidence.Counts counts = evidence.calls();
        long bad = Math.max(counts.late(), counts.failed()) + counts.hung();
        double usually = evidence.usual().figure("calls");
        if (bad < MANY_BAD * (counts.calls() + counts.hung()) || usually <= 0 || areMoreCalls()) {
            return;
        }
        Times work = byCause.only(RefusalRules::isWork);
        if (work.sum() < NOTABLE * evidence.targetNanos()) {
            return;
        }
        for (Part part : byCause.longestFirst()) {
            boolean ofServer = LocalRefusals.of(part) == null && !part.name().equals(Part.UNREAD);
            if (part.kind() == Kind.LIMIT && ofServer) {
                pour(part, work);
            }
        }
    }

    /**
     * Attributes the refusals of a full bulkhead to the work that takes longer than usual in the admitted calls, unless
     * there are more calls than usual.
     */
    private void passOnBulkhead(Part refusal) {
        Times work = excess.ofAdmitted(refusal).only(part -> isWork(part) && !waitsForPlace(part));
        if (!areMoreCalls() && work.sum() >= NOTABLE * evidence.targetNanos()) {
            Times merged = new Times();
            work.longestFirst().forEach(part -> merged.add(merged(part), work.of(part)));
            pour(refusal, merged);
        }
    }

    /**
     * Attributes the refusals of an open circuit breaker to the failures that opened it. While it is open, calls do not
     * reach the peer that failed. Therefore this method also searches earlier calls to the same methods. The failures
     * below the method that uses the circuit breaker are examined first. Slow operations are examined last, because few
     * circuit breakers open for this reason. Operations that the refused calls still run are left out, because an open
     * circuit breaker prevents the operations that opened it.
     */
    private void passOnBreaker(Part refusal) {
        Set<String> methods = excess.methodsFailingFor(refusal);
        List<EndedCall> calls = evidence.earlier().stream()
                .filter(call -> methods.contains(call.method()))
                .sorted((one, other) -> Long.signum(other.endedNanos() - one.endedNanos()))
                .toList();
        String method = LocalRefusals.method(refusal);
        Part reason = mostFrequent(
                calls,
                call -> method != null && FailurePart.passesThrough(call, method) ? excess.failureOf(call) : null);
        if (reason == null) {
            reason = mostFrequent(calls, call -> FailurePart.isOfOwnCode(call) ? null : excess.failureOf(call));
        }
        if (reason == null) {
            Set<Part> stillRun = operationsOf(refusal);
            reason = mostFrequent(calls, call -> {
                Part slow = excess.slowOperation(call);
                return slow == null || stillRun.contains(slow) ? null : slow;
            });
        }
        if (reason != null) {
            Times one = new Times();
            one.add(merged(reason), 1);
            pour(refusal, one);
        }
    }

    /** Returns the operations that calls ran before they were refused for the given reason. */
    private Set<Part> operationsOf(Part refusal) {
        Set<Part> operations = new HashSet<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            if (refusal.equals(excess.failureOf(counted.call()))) {
                counted.call()
                        .ledger()
                        .named()
                        .forEach(named -> operations.add(Account.part(named.kind(), named.name())));
            }
        }
        return operations;
    }

    private static @Nullable Part mostFrequent(List<EndedCall> newestFirst, Reason reason) {
        Map<Part, Integer> counts = new LinkedHashMap<>();
        newestFirst.stream()
                .map(reason::of)
                .filter(Objects::nonNull)
                .filter(part -> part.kind() != Kind.LIMIT)
                .limit(NEWEST)
                .forEach(part -> counts.merge(part, 1, Integer::sum));
        Part mostFrequent = null;
        for (Map.Entry<Part, Integer> entry : counts.entrySet()) {
            if (mostFrequent == null || entry.getValue() > counts.getOrDefault(mostFrequent, 0)) {
                mostFrequent = entry.getKey();
            }
        }
        return mostFrequent;
    }

    /** Returns the cause that earlier rules have merged the given operation into. */
    private Part merged(Part part) {
        Part all = Part.of(part.kind());
        boolean isMerged = Operations.phase(part.kind()) != null && byCause.of(part) <= 0 && byCause.of(all) > 0;
        return isMerged ? all : part;
    }

    private void pour(Part refusal, Times into) {
        byCause.pour(refusal, into, "calls are refused (" + refusal.name() + ")");
    }

    private boolean areMoreCalls() {
        Evidence.Counts counts = evidence.calls();
        double usually = evidence.usual().figure("calls");
        return usually > 0 && (counts.calls() + counts.refused()) / evidence.seconds() >= MORE * usually;
    }

    private static boolean isWork(Part part) {
        return TimesByCause.isLeaf(part) && part.kind() != Kind.LIMIT && part.kind() != Kind.UNEXPLAINED;
    }

    private static boolean waitsForPlace(Part part) {
        return part.kind() == Kind.LOCK
                && (part.name().startsWith(LibraryWaits.BULKHEAD) || part.name().startsWith(LibraryWaits.LIMIT));
    }
}
