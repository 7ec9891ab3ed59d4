package tern.rpc.diagnosis.text;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.pool.ApplicationCode;

/**
 * Describes calls that fail on purpose: they end with an exception of the application, before they run an operation
 * that they usually run. Circuit breakers, feature flags and checks that an application has written itself do this.
 */
final class SkippedOperations {

    private static final Set<Kind> OF_PEERS = EnumSet.of(Kind.SQL, Kind.REDIS, Kind.HTTP, Kind.RPC);
    private static final int MIN_CALLS = 3;

    /** The diagnosis reports an operation as skipped only if at least {@value} of the failed calls skip it. */
    private static final double NEARLY_ALL = 0.9;

    /** An operation counts as usual for a method if its calls run it at least {@value} times on average. */
    private static final double RUNS = 0.5;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    SkippedOperations(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    /** Returns the advice for the given failure; null if the failed calls do not skip an operation. */
    @Nullable
    String advice(Part failure) {
        List<EndedCall> failed = excess.accounts.stream()
                .map(ExcessTime.Counted::call)
                .filter(call -> failure.equals(excess.failureOf(call)) && isOfApplication(call.failure()))
                .toList();
        Times skipped = new Times(); // for each operation, its usual time in the calls that skip it
        for (EndedCall call : failed) {
            Times usual = excess.usualOf(call.method());
            if (usual != null) {
                Times usually = usual.only(part -> usuallyRuns(usual, part) && !runs(call, part));
                skipped.addAll(usually, 1);
            }
        }
        for (Part part : skipped.longestFirst()) {
            long calls = failed.stream().filter(call -> !runs(call, part)).count();
            if (calls >= MIN_CALLS && calls >= NEARLY_ALL * failed.size()) {
                return "find out why code refuses calls before they run " + part.name() + ", which they usually run: "
                        + failure.name() + "; if it is a circuit breaker, check whether the peer answers again, and"
                        + " close the breaker sooner" + earlier(part);
            }
        }
        return null;
    }

    private static boolean isOfApplication(@Nullable Throwable failure) {
        return failure != null
                && Stream.iterate(failure, one -> one != null, Throwable::getCause)
                        .limit(8)
                        .reduce((outer, inner) -> inner)
                        .filter(innermost ->
                                ApplicationCode.owns(innermost.getClass().getName()))
                        .isPresent();
    }

    private boolean usuallyRuns(Times usual, Part part) {
        Phase phase = OF_PEERS.contains(part.kind()) && !part.name().isEmpty() ? Operations.phase(part.kind()) : null;
        double each = phase == null ? -1 : operations.usualNamed(phase, part.name());
        return each > 0 && usual.of(part) >= RUNS * each;
    }

    private static boolean runs(EndedCall call, Part part) {
        return call.ledger().named().stream().anyMatch(entry -> isOf(entry, part));
    }

    private static boolean isOf(NamedTimes.Entry entry, Part part) {
        return entry.kind() == Operations.phase(part.kind())
                && OperationNames.withoutStatus(entry.name()).equals(OperationNames.withoutStatus(part.name()));
    }

    /** Returns text about failures of the skipped operation in the last minutes; empty if there were none. */
    private String earlier(Part part) {
        return evidence.earlier().stream()
                .flatMap(call -> call.ledger().named().stream())
                .filter(entry -> isOf(entry, part) && OperationNames.isFailing(entry.name()))
                .findFirst()
                .map(entry -> "; in the last minutes, calls failed with " + entry.name())
                .orElse("");
    }
}
