package tern.rpc.diagnosis.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.rule.AwaitedWork;
import tern.rpc.diagnosis.rule.EqualWaits;
import tern.rpc.diagnosis.rule.LostResults;
import tern.rpc.diagnosis.rule.ResultTimers;
import tern.rpc.diagnosis.stack.Hints;
import tern.rpc.pool.ApplicationCode;

/** Creates the cause descriptions for calls that wait for a result of another thread. */
final class ResultText {

    private static final String SHORTER =
            "shorten the fixed delay after which this result is completed, such as the delay of a scheduled task, of a"
                    + " batch (linger) or of a debounce, a limit of the rate, or the interval of a poll";

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final ExecutorText executors;
    private final AwaitedWork work;

    ResultText(Evidence evidence, ExcessTime excess, Operations operations, ExecutorText executors, AwaitedWork work) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.executors = executors;
        this.work = work;
    }

    CauseDescription describe(Part part, String place, @Nullable StackTraceElement line) {
        if (part.name().startsWith(Part.TASKS_OF)) {
            return executors.innerTasks(part, line);
        }
        CauseDescription full = work.isLost(part) ? null : executors.fullExecutor(part);
        if (full != null) {
            List<String> facts = new ArrayList<>(full.facts());
            facts.add("waits    in " + place);
            return new CauseDescription(full.kind(), full.name(), full.change(), facts);
        }
        CauseDescription polling = new PollingText(excess, operations).ofTask(part, place, line);
        if (polling != null) {
            return polling;
        }
        List<String> unexplained = work.facts(part);
        String equal = EqualWaits.fact(excess, part);
        String lost = LostResults.fact(evidence, excess, part);
        String delayed = lost == null ? delayed(part, place, line) : null;
        String failed = work.failedTasks(part);
        String first =
                failed == null ? "" : "find out why tasks fail before they complete this result: " + failed + "; ";
        String change = delayed != null && failed == null
                ? delayed
                : first + change(part, place, equal, lost, unexplained) + ended(equal, lost, line);
        List<String> facts = new ArrayList<>();
        if (line != null) {
            facts.add("line     " + ApplicationCode.shown(line));
        }
        facts.addAll(unexplained);
        Stream.of(lost, equal).filter(Objects::nonNull).forEach(facts::add);
        return new CauseDescription("WAITS FOR A RESULT", part.name(), Change.of(Where.CODE, change), facts);
    }

    /** Returns whether the samples show waits without a time limit, which end only when the result comes. */
    private boolean areUntimed(Part part) {
        return excess.accounts.stream()
                .filter(counted -> counted.times().of(part) > 0)
                .map(counted -> evidence.samples().get(counted.call().ledger()))
                .anyMatch(call -> call != null && call.untimedLooks > 0);
    }

    /**
     * Returns the change for waits that end with the result after a fixed delay; null if there is no sign of such a
     * delay.
     */
    private @Nullable String delayed(Part part, String place, @Nullable StackTraceElement line) {
        EqualWaits.Equal equal = EqualWaits.of(excess, part);
        String called = excess.samples.calledIn(part);
        boolean mayComplete = !Hints.isSignal(called) && evidence.tasks().idleConsumerOf(line) != null;
        if (mayComplete || (equal != null && !equal.areSuccessful())) {
            return null;
        }
        ResultTimers.Timer timer = ResultTimers.of(excess, part);
        String waits = "calls wait in " + place;
        if (equal != null && (timer != null || (Hints.result(called).isEmpty() && areUntimed(part)))) {
            String change = timer == null ? SHORTER : timer.change();
            return change + ": " + waits + "; " + equal.text() + " and end without a failure, so a fixed delay of"
                    + " about this time probably completes the result"
                    + (timer == null
                            ? "; if a server answers it (Kafka, HTTP), find out why the server answers slowly"
                            : "")
                    + (areUntimed(part)
                            ? ""
                            : "; if the wait itself has this time limit and the code goes on without the result, find"
                                    + " out why nothing completes it");
        }
        return equal == null
                        && timer != null
                        && timer.isMethod()
                        && Hints.result(called).isEmpty()
                ? timer.change() + ", if it completes this result: " + waits
                : null;
    }

    private String change(
            Part part, String place, @Nullable String equal, @Nullable String lost, List<String> unexplained) {
        String hint = Hints.result(excess.samples.calledIn(part));
        if (hint.isEmpty() && !unexplained.isEmpty()) {
            hint = "complete this result also if code fails (completeExceptionally, a finally block), and wait for it"
                    + " with a timeout, or, if a server answers it (Kafka, HTTP), find out why the server"
                    + " answers slowly: no thread was found that works for it most of the time";
        }
        if ((equal != null || lost != null) && hint.isEmpty()) {
            hint = "find out why nothing completes this result in time: an answer that is dropped or belongs to another"
                    + " key, a task that fails, or a server that does not answer (Kafka, HTTP; then find out why the"
                    + " server answers slowly); complete it also if code fails (completeExceptionally, a finally"
                    + " block)";
        }
        return hint.isEmpty()
                ? "find out what completes the result for which code waits in " + place
                        + ": if it is a task, make tasks shorter or give them more threads; if it is the"
                        + " answer of a server, as in an asynchronous client (Kafka, HTTP), find out why the server"
                        + " answers slowly; or do not wait for the result within the call"
                : hint + ": calls wait in " + place;
    }

    /** Returns text about results that probably never come, preceded by a separator; empty if they may come. */
    private String ended(@Nullable String equal, @Nullable String lost, @Nullable StackTraceElement line) {
        String never = lost != null
                ? "; these results probably never come, so wait for them with a timeout: "
                        + lost.replaceFirst(CodeText.WORD, "")
                : equal != null
                        ? "; if the wait has a timeout, the result probably never comes: "
                                + equal.replaceFirst(CodeText.WORD, "")
                        : "";
        String completer = evidence.tasks().idleConsumerOf(line);
        return never.isEmpty() || completer == null
                ? never
                : never + "; " + completer + " probably completes such results, but is idle";
    }
}
