package tern.rpc.diagnosis.excess;

import java.util.Locale;
import java.util.Map;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;

/** Creates texts that compare the number of operations per call with the usual number. */
public final class CountText {

    private final ExcessTime excess;
    private final OperationsPerCall perCall;

    CountText(ExcessTime excess, OperationsPerCall perCall) {
        this.excess = excess;
        this.perCall = perCall;
    }

    /** Returns the evidence that calls run the given operation more often than usual. */
    public String figures(Part part) {
        return "often    " + numbers(part);
    }

    /** Returns text that compares the current number of the given operations per call with the usual number. */
    public String numbers(Part part) {
        return counts(
                part.kind(),
                OperationCounts.name(part),
                perCall.methodsThatRun(OperationCounts.phase(part), OperationCounts.name(part)));
    }

    /** Returns text that compares the current number of redirected exchanges per call with the usual number. */
    public String redirects() {
        return counts(Kind.HTTP, OperationNames.REDIRECTED, excess.badByMethod());
    }

    private String counts(Kind kind, String name, Map<String, Integer> methods) {
        Phase phase = Operations.phase(kind);
        Phase counted = phase == null ? Phase.OWN : phase;
        return String.format(
                Locale.ROOT,
                "%s per call, usually %s",
                number(perCall.now(counted, name, methods)),
                number(perCall.usual(kind, counted, name, methods).count()));
    }

    /**
     * Returns text that compares the number of operations with the usual number, for example {@code 3.0 times as often
     * as usual}.
     */
    public String moreOften(Part part) {
        Phase phase = OperationCounts.phase(part);
        String name = OperationCounts.name(part);
        Map<String, Integer> methods = perCall.methodsThatRun(phase, name);
        double usually = perCall.usual(part.kind(), phase, name, methods).count();
        return usually <= 0
                ? "more often than usual"
                : number(perCall.now(phase, name, methods) / usually) + " times as often as usual";
    }

    static String number(double value) {
        return String.format(Locale.ROOT, value >= 10 || value == 0 ? "%.0f" : value >= 0.1 ? "%.1f" : "%.3f", value);
    }
}
