package tern.rpc.diagnosis;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;

/** Describes timeouts that end calls before the calls are late. */
final class TimeOuts {

    /** An operation counts as usual if its time is at most its usual time multiplied by this factor. */
    private static final double AS_USUAL = 1.3;

    private final Excess excess;
    private final Operations operations;
    private final Usual usual;

    TimeOuts(Excess excess, Operations operations, Usual usual) {
        this.excess = excess;
        this.operations = operations;
        this.usual = usual;
    }

    /** The name of the timeout, with the recommended change. */
    record TooShort(String name, Change change) {}

    /**
     * The calls that failed because of a timeout. @param calls their number @param of the number of late or failed
     * calls @param eachNanos the mean time of a whole call @param usualNanos the usual time of a whole call
     */
    private record Failed(int calls, int of, double eachNanos, double usualNanos) {

        boolean areMost() {
            return calls > 0 && 2 * calls >= of;
        }
    }

    /** Returns whether at least half of the late or failed calls with this operation failed because of its timeout. */
    boolean failCalls(Part operation) {
        return failed(operation, Long.MAX_VALUE).areMost();
    }

    /** Returns a line about the calls that failed because of the operation's timeout; empty if there are none. */
    List<String> facts(Part operation) {
        Failed failed = failed(operation, Long.MAX_VALUE);
        return failed.calls == 0
                ? List.of()
                : List.of("timeout  " + failed.calls + " of " + excess.accounts.size()
                        + " recorded calls failed because of a timeout of it");
    }

    /**
     * Describes a timeout that is too short. Returns null if this part is no timeout, or if the operation was slower
     * than usual when its timeout ended it.
     */
    @Nullable
    TooShort of(Part part) {
        Failed failed = failed(part, excess.targetNanos());
        if (!failed.areMost()) {
            return null;
        }
        Phase phase = Operations.phase(part.kind());
        if (phase == null) {
            String usually =
                    failed.usualNanos <= 0 ? "" : ", and usually take " + Times.millis(failed.usualNanos) + " ms";
            boolean deadline = part.name().equals(FailurePart.DEADLINE);
            String longer =
                    deadline ? "a longer timeout in the caller" : "a longer timeout, or quicker work: " + part.name();
            String text = longer + ": calls end after " + Times.millis(failed.eachNanos) + " ms" + usually;
            return new TooShort(part.name(), Change.of(deadline ? Where.PEER : Where.CODE, text));
        }
        double each = operations.of(phase, part.name()).eachNanos();
        double usually = part.name().isEmpty() ? -1 : operations.usualNamed(phase, part.name());
        if (usually < 0 || each > AS_USUAL * usually) {
            return null;
        }
        String place = operations.placeOf(phase, part.name());
        return new TooShort(
                part.name(),
                Change.of(
                        Where.CODE,
                        "a longer timeout for " + part.name() + (place == null ? "" : ", called in " + place)
                                + ": it ends after " + Times.millis(each) + " ms and usually takes "
                                + Times.millis(usually) + " ms"));
    }

    private Failed failed(Part part, long maxNanos) {
        Predicate<Part> matching = Operations.only(part);
        int calls = 0;
        int of = 0;
        double nanos = 0;
        double usually = 0;
        for (Excess.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            Part ended = excess.timedOutPart(call);
            boolean matches = ended != null && matching.test(ended);
            if (matches && call.tookNanos() <= maxNanos) {
                Times known = usual.of(call.method());
                calls++;
                nanos += call.tookNanos();
                usually += known == null ? 0 : known.sum();
            }
            of += matches || counted.times().sum(matching) > 0 ? 1 : 0;
        }
        return new Failed(calls, of, nanos / Math.max(1, calls), usually / Math.max(1, calls));
    }
}
