package tern.rpc.diagnosis;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import tern.rpc.diagnosis.Diagnosis.Miss;
import tern.rpc.diagnosis.cause.Cause;

/** Formats a diagnosis as readable text. */
public final class DiagnosisText {

    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
    private static final int MAX_PARTS = 5;
    private static final double MUCH = 0.25;
    private static final double HALF = 0.5;
    private static final int LEAST_SAVED_PERCENT = 10;

    private DiagnosisText() {}

    static String of(Miss miss, List<Cause> causes, Map<String, Double> accountMs) {
        StringBuilder text = new StringBuilder(1_024);
        line(
                text,
                "MISS since %s (%d s) %s, target %.0f ms",
                TIME.format(miss.since().atZone(ZoneId.systemDefault())),
                miss.seconds(),
                methods(miss.methods()),
                miss.targetMs());
        line(
                text,
                "  %,d of %,d late, %,d failed, %,d refused%s; p99 %.0f ms%s",
                miss.late(),
                miss.calls(),
                miss.failed(),
                miss.refused(),
                miss.hung() == 0 ? "" : ", " + miss.hung() + " hang now",
                miss.p99Ms(),
                miss.usualP99Ms() < 0 ? "" : String.format(Locale.ROOT, " (usual %.0f)", miss.usualP99Ms()));
        for (int i = 0; i < causes.size(); i++) {
            cause(text, i + 1, causes.get(i));
            if (i == 0) {
                causes.get(0).changed().forEach(fact -> line(text, "  %s", fact));
                if (isNotAlone(causes)) {
                    line(
                            text,
                            "  alone    if only cause 1 or only cause 2 is removed, fewer than half of the bad calls"
                                    + " would meet the target");
                }
            }
        }
        if (!accountMs.isEmpty()) {
            line(text, "  a call   %s", account(accountMs));
        }
        return text.toString();
    }

    private static void cause(StringBuilder text, int rank, Cause cause) {
        line(text, "%d %-40s %s", rank, title(cause), amount(cause));
        line(text, "  CHANGE   %s", cause.change().text());
        cause.evidence().forEach(fact -> line(text, "  %s", fact));
        cause.acquitted().forEach(fact -> line(text, "  not      %s", fact));
        cause.symptoms().forEach(fact -> line(text, "  brings   %s", fact));
        if (cause.change().expectedP99Ms() >= 0) {
            line(text, "  expect   p99 %.0f ms", cause.change().expectedP99Ms());
        }
        // A small share is not shown. It would suggest that the cause is unimportant, but it means only that other
        // causes also make the calls late.
        if (Math.round(cause.saves() * 100) >= LEAST_SAVED_PERCENT) {
            line(text, "  saves    %.0f %% of the bad calls would be in time without it", cause.saves() * 100);
        }
    }

    /**
     * Returns how much the cause contributes: the time that it adds to a late call or, if it mostly makes calls fail,
     * the share of the failed and refused calls.
     */
    static String amount(Cause cause) {
        return cause.ofFailures() > 0
                ? String.format(Locale.ROOT, "%.0f %% of the failed and refused calls", 100 * cause.ofFailures())
                : String.format(Locale.ROOT, "%.0f of %.0f ms", cause.ms(), cause.ofMs());
    }

    /**
     * Returns whether there are two main causes. The second cause must also take a lot of time. If only one of the two
     * causes were removed, fewer than half of the late or failed calls would meet the target.
     */
    static boolean isNotAlone(List<Cause> causes) {
        return causes.size() > 1
                && causes.get(1).ms() >= MUCH * causes.get(1).ofMs()
                && causes.get(0).saves() < HALF
                && causes.get(1).saves() < HALF;
    }

    /** Returns the cause's kind and name in one line. */
    public static String title(Cause cause) {
        return cause.title();
    }

    private static String methods(List<String> methods) {
        return methods.size() <= 2
                ? String.join(", ", methods)
                : methods.get(0) + " and " + (methods.size() - 1) + " more methods";
    }

    private static String account(Map<String, Double> accountMs) {
        return accountMs.entrySet().stream()
                        .limit(MAX_PARTS)
                        .map(part -> String.format(Locale.ROOT, "%s %.0f", part.getKey(), part.getValue()))
                        .collect(Collectors.joining(", "))
                + " ms";
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
