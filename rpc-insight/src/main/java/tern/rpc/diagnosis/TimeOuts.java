package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;

/** Describes timeouts that end calls although their work takes no longer than usual. */
final class TimeOuts {

    /** An operation took about its usual time if it took at most this multiple of its usual time. */
    static final double AS_USUAL = 1.3;

    /** An operation took longer than usual if it took more than this multiple of its usual time. */
    static final double NOTABLE = 1.1;

    private static final int MAX_CALLERS = 2;

    private final Excess excess;
    private final Operations operations;
    private final Map<String, Double> usualNanos = new HashMap<>(); // usual time of a call by method; 0 if unknown

    TimeOuts(Excess excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** The name of the timeout, with the recommended change and the evidence. */
    record TooShort(String name, Change change, List<String> facts) {}

    /**
     * The calls that failed because of a timeout.
     *
     * @param of the number of all late or failed calls
     * @param eachNanos the mean time of a whole call
     * @param usualNanos the usual time of a whole call
     */
    private record Failed(List<EndedCall> ended, int of, double eachNanos, double usualNanos) {

        int calls() {
            return ended.size();
        }

        boolean areMost() {
            return calls() > 0 && 2 * calls() >= of;
        }
    }

    /** Returns whether at least half of the late or failed calls with this operation failed because of its timeout. */
    boolean failCalls(Part operation) {
        return failed(operation, call -> true).areMost();
    }

    /** Returns a line about the calls that failed because of the operation's timeout; empty if there are none. */
    List<String> facts(Part operation) {
        Failed failed = failed(operation, call -> true);
        String limit = limit(failed.ended);
        return failed.calls() == 0 || operation.name().equals(FailurePart.DEADLINE)
                ? byCallers(operation)
                : List.of("timeout  " + failed.calls() + " of " + excess.accounts.size()
                        + " recorded calls failed because of a timeout of it" + (limit.isEmpty() ? "" : ": " + limit));
    }

    /** Returns a line about the deadlines of callers, if they ended at least half of the late or failed calls. */
    private List<String> byCallers(Part part) {
        Failed failed = failed(new Part(Part.Kind.TIMEOUT, FailurePart.DEADLINE), call -> true);
        boolean areMost = 2 * failed.calls() >= Math.max(1, excess.accounts.size());
        return !areMost || part.name().equals(FailurePart.DEADLINE) ? List.of() : List.of(deadlines(failed));
    }

    /** Returns the time limits of the given calls and where the limits are set; empty if the limits are unknown. */
    private static String limit(List<EndedCall> ended) {
        return most(ended, FailurePart::limit).stream().findFirst().orElse("");
    }

    /** Returns the time limits of an operation that ends calls, and where they are set; empty if they are unknown. */
    String limitOf(Part operation) {
        return limit(failed(operation, call -> true).ended);
    }

    /**
     * Describes a timeout that is too short. Returns null if no timeout ended the given operation, or if the operation
     * was slower than usual when its timeout ended it.
     */
    @Nullable
    TooShort of(Part part) {
        Failed failed = failed(part, this::isNoReason);
        if (!failed.areMost()) {
            return null;
        }
        Phase phase = Operations.phase(part.kind());
        return phase == null
                ? part.name().equals(FailurePart.DEADLINE) ? ofCallers(failed) : ofCode(part, failed)
                : ofOperation(part, phase, failed);
    }

    /** Returns whether the time of this call does not show why it failed. */
    private boolean isNoReason(EndedCall call) {
        return call.tookNanos() <= Math.max((double) excess.targetNanos(), AS_USUAL * usualNanos(call.method()));
    }

    /** Returns how long calls to this method usually take; 0 if unknown. */
    private double usualNanos(String method) {
        return usualNanos.computeIfAbsent(method, name -> {
            Times usual = excess.usualOf(name);
            return usual == null ? 0 : usual.sum();
        });
    }

    private static TooShort ofCode(Part part, Failed failed) {
        String text = "a longer timeout, or quicker work: " + part.name() + ": calls " + times(failed);
        return new TooShort(part.name(), Change.of(Where.CODE, text), List.of());
    }

    private TooShort ofCallers(Failed failed) {
        List<String> callers = callers(failed.ended);
        String methods = String.join(", ", most(failed.ended, EndedCall::method));
        String at = callers.isEmpty() ? "" : " " + String.join(", ", callers);
        return new TooShort(
                FailurePart.DEADLINE + at,
                Change.of(
                        Where.PEER,
                        "a longer timeout for " + methods + " in the caller" + at + ": calls " + times(failed)
                                + "; or make " + methods + " faster"),
                List.of(deadlines(failed)));
    }

    /** Returns how long the calls ran until their timeout, and how long they usually take. */
    private static String times(Failed failed) {
        return "end after " + Times.millis(failed.eachNanos) + " ms"
                + (failed.usualNanos <= 0 ? "" : ", and usually take " + Times.millis(failed.usualNanos) + " ms");
    }

    private String deadlines(Failed failed) {
        List<String> callers = callers(failed.ended);
        return "deadline " + (callers.isEmpty() ? "the caller's" : "of " + String.join(", ", callers)) + " ended "
                + failed.calls() + " of " + excess.accounts.size() + " recorded late or failed calls after "
                + Times.millis(failed.eachNanos)
                + " ms";
    }

    private static List<String> callers(List<EndedCall> ended) {
        return most(ended, EndedCall::caller);
    }

    /** Returns the most frequent values of a property of the given calls, the most frequent value first. */
    private static List<String> most(List<EndedCall> calls, Function<EndedCall, @Nullable String> property) {
        Map<String, Integer> counts = new TreeMap<>();
        for (EndedCall call : calls) {
            String value = property.apply(call);
            if (value != null) {
                counts.merge(value, 1, Integer::sum);
            }
        }
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(MAX_CALLERS)
                .map(Map.Entry::getKey)
                .toList();
    }

    /** Returns the usual time of an operation, or of a method at all of its providers; -1 if unknown. */
    private double usualEach(Phase phase, String name) {
        double named = operations.usualNamed(phase, name);
        return named >= 0
                ? named
                : operations.each(phase).keySet().stream()
                        .filter(known -> OperationNames.isNamed(known, name))
                        .mapToDouble(known -> operations.usualNamed(phase, known))
                        .filter(nanos -> nanos >= 0)
                        .average()
                        .orElse(-1);
    }

    private @Nullable TooShort ofOperation(Part part, Phase phase, Failed failed) {
        Operations.Sum sum = operations.of(phase, part.name());
        double each = sum.eachNanos();
        double usually = part.name().isEmpty() ? -1 : usualEach(phase, part.name());
        double slow = excess.slowUsual(Operations.only(part));
        boolean isSlower = each > AS_USUAL * usually
                || (slow > 0 && each > NOTABLE * usually && each * sum.count() > NOTABLE * slow);
        String limit = limit(failed.ended);
        if (usually < 0 && phase == Phase.RPC && !part.name().isEmpty() && !limit.isEmpty()) {
            return neverAnswered(part, limit);
        }
        if (usually < 0 || isSlower) {
            return null;
        }
        String place = operations.placeOf(phase, part.name());
        return new TooShort(
                part.name(),
                Change.of(
                        Where.CODE,
                        "a longer timeout for " + part.name() + (place == null ? "" : ", called in " + place)
                                + ": it ends after " + Times.millis(each) + " ms and usually takes "
                                + Times.millis(usually) + " ms"
                                + (limit.isEmpty() ? "" : "; the timeout is " + limit + "; or make it faster there")),
                List.of());
    }

    /** Describes the timeout of a remote call whose usual time is unknown. */
    private TooShort neverAnswered(Part part, String limit) {
        String place = operations.placeOf(Phase.RPC, part.name());
        return new TooShort(
                part.name(),
                Change.of(
                        Where.CODE,
                        "a longer timeout than " + limit + " for " + part.name()
                                + (place == null ? "" : ", called in " + place)
                                + ": its usual time is not known, because no answer within this time was recorded while"
                                + " calls met the target; if its provider usually answers sooner, ask the diagnosis of the"
                                + " provider"),
                List.of());
    }

    private Failed failed(Part part, Predicate<EndedCall> counts) {
        Predicate<Part> matching = Operations.only(part);
        List<EndedCall> calls = new ArrayList<>();
        int of = 0;
        double nanos = 0;
        double usually = 0;
        for (Excess.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            Part ended = excess.timedOutPart(call);
            boolean matches = ended != null && matching.test(ended);
            if (matches && counts.test(call)) {
                calls.add(call);
                nanos += call.tookNanos();
                usually += usualNanos(call.method());
            }
            of += matches || counted.times().sum(matching) > 0 ? 1 : 0;
        }
        int all = Math.max(1, calls.size());
        return new Failed(calls, of, nanos / all, usually / all);
    }
}
