package tern.rpc.diagnosis.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.StatusCode;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RepeatedOperations;
import tern.rpc.diagnosis.excess.TimesByCause;
import tern.rpc.diagnosis.failure.CallerDeadlines;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Recognizes HTTP peers and providers that do not answer. Several exchanges or remote calls hang or have timed out, and
 * each of them has taken many times as long as usual. No answer has arrived since the first of them should have been
 * answered.
 */
public final class SilentPeers {

    private static final int MIN_CALLS = 3;

    /** The suffix of the name of an exchange that failed with an exception. */
    private static final String FAILED = " (failed)";

    /**
     * A peer counts as silent if an operation has been unanswered for at least {@value} times its usual time, or
     * {@value} times the target if the usual time is unknown. A peer that is only slow usually answers sooner.
     */
    private static final double LONG = 10;

    private final ExcessTime excess;
    private final Operations operations;

    public SilentPeers(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** Returns whether the given exchanges or remote calls get no answer. */
    public boolean isSilent(Part part) {
        boolean isOfPeer = part.kind() == Kind.HTTP || part.kind() == Kind.RPC;
        boolean isNamed = !part.name().isEmpty()
                && !part.name().startsWith(StackReader.CALLED)
                && !OperationNames.isFailing(part.name());
        return isOfPeer && isNamed && !isAnswered(part, part);
    }

    /**
     * Returns whether the peer answers other operations, although it does not answer the given exchanges or remote
     * calls. If so, the peer is running, and something within it delays only the given operations.
     */
    public boolean answersOthers(Part silent) {
        String peer = OperationNames.store(silent.name());
        return !peer.isEmpty() && isAnswered(silent, new Part(silent.kind(), OperationNames.ALL + peer));
    }

    /**
     * Returns whether an answer has arrived since the first of the unanswered operations should have been answered.
     * Returns true if only few operations are unanswered.
     *
     * @param part the operations that may be unanswered
     * @param answered the operations whose answers count
     */
    private boolean isAnswered(Part part, Part answered) {
        Phase phase = Phase.valueOf(part.kind().name());
        double usually = usualNanos(part, phase);
        List<Long> unanswered = excess.accounts.stream()
                .filter(counted -> isUnanswered(counted, part, phase, usually))
                .map(counted -> counted.call().startedNanos())
                .toList();
        if (unanswered.size() < MIN_CALLS) {
            return true;
        }
        long first = unanswered.get(0);
        for (long started : unanswered) {
            first = started - first < 0 ? started : first;
        }
        return isAnswered(answered, phase, usually, first);
    }

    /** Returns the evidence that the given operations get no answer. */
    public String fact(Part silent) {
        Phase phase = Phase.valueOf(silent.kind().name());
        double usually = usualNanos(silent, phase);
        long unanswered = excess.accounts.stream()
                .filter(counted -> isUnanswered(counted, silent, phase, usually))
                .count();
        return "silent   " + unanswered + " of these in recorded calls got no answer"
                + (usually > 0 ? "; the answer usually takes " + Times.millis(usually) + " ms" : "");
    }

    /**
     * Merges the operations on each peer that answers none of them into one cause. If other operations on the peer are
     * answered, the operations are not merged. If calls use no other peer, operations that are known only from stacks
     * belong to this cause as well.
     */
    public void merge(TimesByCause byCause) {
        PeerFailures failures = new PeerFailures(byCause);
        for (Kind kind : List.of(Kind.HTTP, Kind.RPC)) {
            Map<String, List<Part>> byPeer = new TreeMap<>();
            List<Part> unnamed = new ArrayList<>();
            for (Part part : byCause.only(part -> part.kind() == kind).longestFirst()) {
                boolean isNamed = !part.name().isEmpty() && !part.name().startsWith(StackReader.CALLED);
                (isNamed
                                ? byPeer.computeIfAbsent(OperationNames.store(part.name()), peer -> new ArrayList<>())
                                : unnamed)
                        .add(part);
            }
            byPeer.forEach((peer, parts) -> {
                Part all =
                        parts.size() > 1 && !peer.isEmpty() ? new Part(kind, OperationNames.ALL + peer) : parts.get(0);
                if (isSilent(all)) {
                    parts.forEach(part -> byCause.move(part, all));
                    failures.unanswered(peer).forEach(failure -> byCause.move(failure, all));
                    if (byPeer.size() == 1) {
                        unnamed.forEach(part -> byCause.move(part, all));
                    }
                }
            });
        }
    }

    private static boolean isNotAccepted(@Nullable Part failure) {
        return failure != null
                && failure.kind() == Kind.PEER_FAILS
                && failure.name().endsWith(": " + Part.NOT_ACCEPTED);
    }

    /** Returns the mean usual time of the operations; not positive if it is unknown. */
    private double usualNanos(Part part, Phase phase) {
        return excess.account.only(Operations.only(part)).longestFirst().stream()
                .mapToDouble(one -> operations.usualNamed(phase, one.name()))
                .filter(nanos -> nanos > 0)
                .average()
                .orElse(-1);
    }

    /**
     * Returns whether a call got an answer after the first unanswered operation should have been answered. A peer that
     * answers each call equally late has not yet answered any call that began after the first unanswered operation.
     *
     * @param usually the usual time of one operation
     * @param sinceNanos the start of the first unanswered operation
     */
    private boolean isAnswered(Part part, Phase phase, double usually, long sinceNanos) {
        return Stream.concat(
                        excess.good().stream(),
                        excess.accounts.stream()
                                .filter(counted -> counted.call().ledger().isEnded())
                                .filter(counted -> !isUnanswered(counted, part, phase, usually))
                                .map(ExcessTime.Counted::call)
                                .filter(call -> !isNotAccepted(excess.failureOf(call))))
                .filter(call ->
                        call.startedNanos() - sinceNanos >= 0 || call.endedNanos() - sinceNanos >= longNanos(usually))
                .anyMatch(call ->
                        RepeatedOperations.attempts(call, phase, part.name()).count()
                                > (isCut(call, part, phase) ? 1 : 0) + unreached(call, part, phase));
    }

    /** Returns the number of operations that failed without an answer, for example because nobody is connected. */
    private static int unreached(EndedCall call, Part part, Phase phase) {
        int count = 0;
        for (NamedTimes.Entry entry : call.ledger().named()) {
            boolean isUnreached = entry.name().endsWith(FAILED)
                    || OperationNames.errorCode(entry.name()).equals(StatusCode.UNAVAILABLE.name());
            boolean isOne = OperationNames.isNamed(OperationNames.withoutStatus(entry.name()), part.name());
            count += entry.kind() == phase && isUnreached && isOne ? Math.max(1, entry.count()) : 0;
        }
        return count;
    }

    /**
     * Returns whether the deadline of the call passed while the given operation was running. The ledger contains the
     * time of the operation until the deadline, but the operation was not answered.
     */
    private static boolean isCut(EndedCall call, Part part, Phase phase) {
        String remote = phase == Phase.RPC ? CallerDeadlines.unanswered(call) : null;
        String running = remote == null ? call.ledger().runningAtEnd(phase) : remote;
        return running != null && OperationNames.isNamed(running, part.name());
    }

    private boolean isUnanswered(ExcessTime.Counted counted, Part part, Phase phase, double usually) {
        EndedCall call = counted.call();
        Predicate<Part> matching = Operations.only(part);
        if (!call.ledger().isEnded()) {
            String running = call.ledger().running(phase);
            return running != null
                    && OperationNames.isNamed(running, part.name())
                    && counted.times().sum(matching) >= Math.max(longNanos(usually), (double) excess.targetNanos());
        }
        if (isCut(call, part, phase) && counted.times().sum(matching) >= longNanos(usually)) {
            return true;
        }
        Part ended = excess.timedOutPart(call);
        Operations.Sum attempts = RepeatedOperations.attempts(call, phase, part.name());
        boolean isTimedOut = ended == null
                ? call.failure() == null && excess.isOfTimeLimit(phase, attempts.eachNanos())
                : matching.test(ended);
        return isTimedOut
                && attempts.eachNanos() >= longNanos(usually)
                // If a call usually runs the operation several times, the timeout ended only the last run. The other
                // runs were answered.
                && (attempts.count() <= 1 || attempts.count() > usualCount(call, matching, usually));
    }

    private double usualCount(EndedCall call, Predicate<Part> matching, double usually) {
        Times usual = usually <= 0 ? null : excess.usualOf(call.method());
        return usual == null ? 0 : usual.sum(matching) / usually;
    }

    /** Returns the time after which an operation counts as unanswered. */
    private double longNanos(double usually) {
        return LONG * (usually > 0 ? usually : (double) excess.targetNanos());
    }
}
