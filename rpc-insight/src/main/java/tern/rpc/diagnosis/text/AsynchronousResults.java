package tern.rpc.diagnosis.text;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.rule.LostResults;
import tern.rpc.diagnosis.rule.UnfinishedResults;
import tern.rpc.pool.ApplicationCode;

/** Creates the cause descriptions for results of asynchronous methods that come late or never. */
final class AsynchronousResults {

    private AsynchronousResults() {}

    /** @param line the line of application code that waits; null if it is unknown */
    static CauseDescription describe(
            Evidence evidence, ExcessTime excess, Part wait, @Nullable StackTraceElement line) {
        UnfinishedResults unfinished = UnfinishedResults.of(evidence, excess, wait);
        if (unfinished != null) {
            return unfinished(unfinished);
        }
        String lost = LostResults.fact(evidence, excess, wait);
        return new CauseDescription(
                "OTHER THREADS",
                "asynchronous work",
                Change.of(
                        Where.CODE,
                        lost == null
                                ? "find out what completes the results of asynchronous methods so late"
                                : "find out why nothing completes the results of asynchronous methods: complete them"
                                        + " also if code fails (completeExceptionally), and with a timeout (orTimeout): "
                                        + lost.replaceFirst(CodeText.WORD, "")),
                line == null ? List.of() : List.of("line     " + ApplicationCode.shown(line)));
    }

    private static CauseDescription unfinished(UnfinishedResults results) {
        String place = results.place();
        return new CauseDescription(
                "RESULT NEVER COMPLETED",
                results.method(),
                Change.of(
                        Where.CODE,
                        "complete the result of " + results.method() + " on all paths"
                                + (place == null ? "" : " of " + place)
                                + ", also where the code returns early and after an exception"
                                + " (completeExceptionally): it is never completed"
                                + (results.isAlways()
                                        ? "; if another process completes it (a message, an asynchronous client), find"
                                                + " out why it does not answer"
                                        : " in some calls, while other calls get their results")
                                + "; also set a timeout for it (orTimeout): "
                                + results.fact().replaceFirst(CodeText.WORD, "")),
                place == null ? List.of(results.fact()) : List.of("code     " + place, results.fact()));
    }
}
