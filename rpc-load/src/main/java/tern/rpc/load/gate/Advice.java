package tern.rpc.load.gate;

import java.util.List;
import java.util.Locale;

/**
 * A finding of the application, read from its advice endpoint.
 *
 * @param severity {@code BLOCKS}, {@code RISKS} or {@code HINTS}
 * @param bottleneck the resource that is short
 * @param evidence measured value against limit
 * @param change the line to paste, or the change of the code
 * @param gain the expected effect of the change
 */
record Advice(String rule, String severity, String bottleneck, String evidence, String change, String gain) {

    /** Formats findings for a terminal. */
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

    /** Indents each further line under the first one. */
    private static String indented(String lines) {
        return lines.strip().replaceAll("\\R", System.lineSeparator() + " ".repeat(13));
    }
}
