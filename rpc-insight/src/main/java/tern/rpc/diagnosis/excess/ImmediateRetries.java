package tern.rpc.diagnosis.excess;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.UsualOperations;
import tern.rpc.diagnosis.failure.FailurePart;

/**
 * Finds the operation that code retries immediately, without a pause, after each failure. The failure is the root
 * cause, but the attempts multiply its cost: they put load on the peer and the processors, and prolong the calls
 * themselves.
 */
public final class ImmediateRetries {

    /** Operations count as attempts only if a call runs at least {@value} of them on average. */
    private static final int MIN_ATTEMPTS = 5;

    /**
     * Operations count as retried only if calls run at least {@value} times the usual number of operations of this
     * kind.
     */
    private static final double MANY_MORE = 3;

    /**
     * If the names of the attempts show no failures, at least {@value} calls must have failed because of the operation.
     */
    private static final int MIN_FAILED_CALLS = 3;

    /** If a call makes at least {@value} attempts, the attempts may explain why processors are busy. */
    private static final int STORM = 20;

    /** Sleeps count as pauses between the attempts if they take at least {@value} of the calls' time. */
    private static final double PAUSED = 0.1;

    private final ExcessTime excess;
    private final Operations operations;
    private final @Nullable Retried retried; // the operation that calls repeat most often without a pause

    public ImmediateRetries(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
        this.retried = most();
    }

    /**
     * An operation that is repeated after failures.
     *
     * @param attempts the mean number of attempts per call
     * @param failed the mean number of failed attempts per call
     */
    private record Retried(Repeated operation, double attempts, double failed) {}

    /** @param name the operation without its result, and without the provider of a remote method */
    private record Repeated(Phase phase, String name) {

        /** Returns whether the given cause of the diagnosis is about the retried operation or about its failure. */
        boolean isPartOf(Part cause) {
            boolean isOperation = Operations.phase(cause.kind()) == phase;
            boolean isFailure = cause.kind() == Kind.PEER_FAILS || cause.kind() == Kind.FAILURE;
            return (isOperation || isFailure) && (cause.name().contains(name) || isOfService(cause));
        }

        private boolean isOfService(Part cause) {
            int end = phase == Phase.RPC ? name.lastIndexOf('.') : -1;
            return end > 0 && cause.name().startsWith(name.substring(0, end) + " at ");
        }
    }

    /** The attempts of all calls that retry one operation. */
    private static final class Attempts {
        private final Set<String> methods = new TreeSet<>();
        private int calls;
        private int failedCalls; // the number of calls that failed because of the retried operation
        private double all;
        private double ofFailedCalls;
        private double failed;
        private double nanos;
        private double asleep;
    }

    /** Returns the operation that calls retry most often without a pause; null if there is none. */
    private @Nullable Retried most() {
        Map<Repeated, Attempts> byName = new HashMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            add(counted, byName);
        }
        return byName.entrySet().stream()
                .filter(entry -> areRetries(entry.getKey().phase(), entry.getValue()))
                .max(Comparator.comparingDouble(entry -> entry.getValue().failed))
                .map(entry -> {
                    Attempts of = entry.getValue();
                    double failed = failed(of, usually(entry.getKey().phase(), of));
                    return new Retried(entry.getKey(), of.all / of.calls, failed / of.calls);
                })
                .orElse(null);
    }

    /**
     * Returns the number of attempts that failed. The name of a remote call does not contain an exception that the
     * provider's service has thrown. Therefore all additional operations count as failed attempts if several calls
     * failed because of the operation. These calls must have made at least as many attempts as the other calls.
     */
    private static double failed(Attempts attempts, double usually) {
        boolean areRepeated = attempts.failedCalls >= MIN_FAILED_CALLS
                && attempts.ofFailedCalls * attempts.calls >= attempts.all * attempts.failedCalls;
        return areRepeated && usually >= 0
                ? Math.max(attempts.failed, attempts.all - usually * attempts.calls)
                : attempts.failed;
    }

    private double usually(Phase phase, Attempts attempts) {
        Map<String, Integer> methods = excess.badByMethod();
        methods.keySet().retainAll(attempts.methods);
        return operations.usualCount(phase, methods);
    }

    private void add(ExcessTime.Counted counted, Map<Repeated, Attempts> byName) {
        EndedCall call = counted.call();
        Part failure = call.failure() == null ? null : FailurePart.of(call);
        Map<Repeated, int[]> ofCall = new HashMap<>(); // the number of attempts and of failed attempts
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (UsualOperations.COUNTED.contains(entry.kind()) && !entry.name().equals(NamedTimes.OTHERS)) {
                Repeated operation = new Repeated(entry.kind(), withoutResult(entry.name()));
                int[] sum = ofCall.computeIfAbsent(operation, unknown -> new int[2]);
                sum[0] += entry.count();
                sum[1] += OperationNames.isFailing(entry.name()) ? entry.count() : 0;
            }
        }
        ofCall.forEach((operation, sum) -> {
            Attempts attempts = byName.computeIfAbsent(operation, unknown -> new Attempts());
            attempts.methods.add(call.method());
            attempts.calls++;
            attempts.all += sum[0];
            boolean isFailed = failure != null && failure.kind() == Kind.PEER_FAILS && operation.isPartOf(failure);
            attempts.failed += sum[1] == 0 && isFailed ? sum[0] : sum[1];
            attempts.failedCalls += isFailed ? 1 : 0;
            attempts.ofFailedCalls += isFailed ? sum[0] : 0;
            attempts.nanos += call.tookNanos();
            attempts.asleep += counted.times().sum(Kind.SLEEP);
        });
    }

    private static String withoutResult(String name) {
        String operation = OperationNames.withoutStatus(name);
        String method = OperationNames.method(operation);
        return method == null ? operation : method;
    }

    private boolean areRetries(Phase phase, Attempts attempts) {
        double usually = usually(phase, attempts);
        return attempts.all >= MIN_ATTEMPTS * attempts.calls
                && attempts.all >= MANY_MORE * usually * attempts.calls
                && 2 * failed(attempts, usually) >= attempts.all
                && attempts.asleep < PAUSED * attempts.nanos;
    }

    /**
     * Returns the advice to retry less often, and names the code that retries the given operation without a pause.
     * Empty if no code does so.
     */
    public String advice(Part cause) {
        if (retried == null || !retried.operation().isPartOf(cause)) {
            return "";
        }
        return "limit the attempts, and wait longer before each of them (back-off)" + at(retried) + ": "
                + figures(retried) + "; ";
    }

    /** Returns the evidence that code retries the given operation without a pause; null if there is none. */
    public @Nullable String fact(Part cause) {
        return retried == null || !retried.operation().isPartOf(cause)
                ? null
                : "retries  " + retried.operation().name() + ": " + figures(retried) + at(retried);
    }

    private static String figures(Retried retried) {
        return String.format(
                Locale.ROOT,
                "%.0f attempts per call, %.0f fail, each is repeated at once",
                retried.attempts(),
                retried.failed());
    }

    private String at(Retried retried) {
        return Operations.at(operations.placeOf(
                retried.operation().phase(), retried.operation().name()));
    }

    /**
     * Attributes waits for a processor to the operation that calls retry very often. The attempts keep the processors
     * busy in this process, and in providers on the same machine.
     *
     * @return whether there is such an operation
     */
    public boolean passOnRunQueue(TimesByCause byCause) {
        Retried storm = retried == null || retried.attempts() < STORM ? null : retried;
        Part cause = storm == null
                ? null
                : byCause.longestFirst().stream()
                        .filter(storm.operation()::isPartOf)
                        .findFirst()
                        .orElse(null);
        if (cause == null) {
            return false;
        }
        Times one = new Times();
        one.add(cause, 1);
        byCause.pour(Part.of(Kind.RUN_QUEUE), one, TimesByCause.WAIT_FOR + "a processor, which the attempts keep busy");
        return true;
    }
}
