package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.LaterResult;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.rule.EqualWaits;
import tern.rpc.diagnosis.rule.LostResults;
import tern.rpc.diagnosis.rule.ResultTimers;
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
        EqualWaits.Equal equal = EqualWaits.of(excess, wait);
        if (lost == null && equal != null && equal.areSuccessful()) {
            return delayed(equal, excess, wait);
        }
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

    /** Returns the cause description for results that come after a fixed delay. */
    private static CauseDescription delayed(EqualWaits.Equal equal, ExcessTime excess, Part wait) {
        EndedCall call = EqualWaits.callsIn(excess, wait).get(0);
        String place = UnfinishedResults.place(call.method(), call);
        LaterResult later = call.ledger().laterResult();
        Class<?> code = later == null ? null : later.code();
        ResultTimers.Timer timer = code == null ? null : ResultTimers.of(code);
        List<String> facts = new ArrayList<>();
        if (place != null) {
            facts.add("code     " + place);
        }
        facts.add("equal    " + equal.text() + ", as if a timeout or a fixed delay ended them");
        return new CauseDescription(
                "OTHER THREADS",
                "asynchronous work",
                Change.of(
                        Where.CODE,
                        "shorten the fixed delay after which the result of " + call.method() + " is completed"
                                + (place == null ? "" : ", in " + place + " or code that it calls")
                                + (timer == null
                                        ? " (completeOnTimeout, orTimeout, delayedExecutor, or a task of a scheduler)"
                                        : ", probably by " + (timer.isMethod() ? "" : "a task of ") + timer.name())
                                + ": " + equal.text() + " and end without a failure; if no code delays the result, find"
                                + " out which peer always answers after this time"),
                facts);
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
