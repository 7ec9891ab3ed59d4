package tern.rpc.load.gate;

import java.util.List;
import java.util.Locale;

/**
 * A finding of the application, as its actuator tells it.
 *
 * @param severity how much it matters: {@code BLOCKS}, {@code RISKS} or {@code HINTS}
 * @param bottleneck what is short
 * @param evidence measured value against limit
 * @param change the line to paste, or what to change in code
 * @param gain what that would give
 */
record Advice(String rule, String severity, String bottleneck, String evidence, String change, String gain) {

    /** For a terminal. */
    static String text(List<Advice> all) {
        if (all.isEmpty()) {
            return String.format("The application has no advice.%n");
        }
        StringBuilder text = new StringBuilder(String.format("Advice that stands, the likeliest cause first:%n"));
        for (int i = 0; i < all.size(); i++) {
            Advice advice = all.get(i);
            text.append(String.format(
                    Locale.ROOT,
                    "%3d. %s %s: %s%n     why     %s%n     change  %s%n     gain    %s%n",
                    i + 1,
                    advice.severity(),
                    advice.rule(),
                    advice.bottleneck(),
                    advice.evidence(),
                    indented(advice.change()),
                    advice.gain()));
        }
        return text.toString();
    }

    /** Several lines to paste stand under each other. */
    private static String indented(String lines) {
        return lines.strip().replaceAll("\\R", System.lineSeparator() + " ".repeat(13));
    }
}
