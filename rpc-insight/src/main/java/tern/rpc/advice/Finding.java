package tern.rpc.advice;

import java.time.Duration;

/**
 * Something that stands between the application and its target.
 *
 * @param rule that found it: {@code fair-lock}
 * @param severity how much it matters
 * @param bottleneck what is short, in few words
 * @param evidence measured value against limit
 * @param change the line to paste, or what to change in code
 * @param gain what that would give
 * @param saved time per call that it costs now, zero when unknown: the larger of two alike comes first
 */
public record Finding(
        String rule,
        Severity severity,
        String bottleneck,
        String evidence,
        String change,
        String gain,
        Duration saved) {

    /** In one line, for the log. */
    @Override
    public String toString() {
        return bottleneck + ": " + evidence + "; " + change + " (" + gain + ")";
    }
}
