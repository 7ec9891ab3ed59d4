package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.TimeOuts.TooShort;
import tern.rpc.diagnosis.failure.AnswerTimes;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.diagnosis.failure.StatedLimits;
import tern.rpc.diagnosis.failure.TimeLimit;
import tern.rpc.diagnosis.failure.WaitLimits;

/** Creates the texts about timeouts that are too short: the limit, the usual times, and the place that sets the limit. */
final class TimeOutText {

    /** The places where the limits of timeouts are set, by the simple name of the timeout's exception. */
    private static final Map<String, String> SET_BY = Map.of(
            "AsyncRequestTimeoutException", "spring.mvc.async.request-timeout",
            "TransactionTimedOutException", "the timeout of @Transactional, or spring.transaction.default-timeout");

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;

    TimeOutText(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
    }

    TooShort ofCode(Part part, TimedOutCalls failed) {
        String exception = part.name().split(" ", 2)[0];
        String awaited = TimedWaits.awaited(part.name(), excess, operations);
        double limit = failed.ended().stream()
                .mapToDouble(WaitLimits::nanos)
                .filter(nanos -> nanos > 0)
                .average()
                .orElse(-1);
        String text = "set a longer timeout, or do the work faster: " + part.name() + ": "
                + (awaited.isEmpty() ? "" : "the code waits for " + awaited + "; ")
                + (limit > 0 ? "it gives up after " + Times.millis(limit) + " ms; " : "")
                + "the whole calls " + times(failed)
                + ofDatabase(failed)
                + (SET_BY.containsKey(exception) ? "; the timeout is set by " + SET_BY.get(exception) : "");
        return new TooShort(part.name(), Change.of(Where.CODE, text), List.of());
    }

    TooShort ofCallers(TimedOutCalls failed) {
        List<String> callers = failed.callers();
        String methods = String.join(", ", failed.most(EndedCall::method));
        String at = callers.isEmpty() ? "" : " " + String.join(", ", callers);
        return new TooShort(
                FailurePart.DEADLINE + at,
                Change.of(
                        Where.PEER,
                        "set a longer timeout for " + methods + " in the caller" + at + ": calls " + times(failed)
                                + "; or make " + methods + " faster"),
                List.of(deadlines(failed)));
    }

    /** Returns text that says after how long the calls timed out, and how long they usually take. */
    private static String times(TimedOutCalls failed) {
        return "end after " + Times.millis(failed.eachNanos()) + " ms"
                + (failed.usualNanos() <= 0 ? "" : ", and usually take " + Times.millis(failed.usualNanos()) + " ms");
    }

    String deadlines(TimedOutCalls failed) {
        List<String> callers = failed.callers();
        return "deadline "
                + (callers.isEmpty() ? "the caller" : callers.size() == 1 ? "the caller " : "the callers ")
                + String.join(", ", callers) + " gave up after " + Times.millis(failed.eachNanos()) + " ms in "
                + failed.calls() + " of " + excess.accounts.size() + " recorded late or failed calls";
    }

    TooShort tooShort(Part part, Phase phase, TimedOutCalls failed, double timeout, String times, AnswerTimes answers) {
        String place = placeOf(part, phase, failed);
        return new TooShort(
                part.name(),
                Change.of(
                        Where.CODE,
                        "set a longer timeout for " + part.name() + (place == null ? "" : ", called in " + place)
                                + ": it ends after " + Times.millis(timeout) + " ms and " + times
                                + setBy(phase, failed, timeout)),
                facts(part, phase, answers));
    }

    private List<String> facts(Part part, Phase phase, AnswerTimes answers) {
        List<String> facts = new ArrayList<>();
        if (answers.areEnough()) {
            facts.add("answers  " + answers.text() + " in calls that the timeout does not end");
        }
        AnswerTimes before = AnswerTimes.of(List.of(), excess.goodBeforeMiss(), phase, part.name());
        if (before.areEnough()) {
            facts.add("usually  " + before.longText() + " before calls began to miss the target");
        }
        return facts;
    }

    /**
     * Returns the place that runs the operation. The exceptions of a timeout show it exactly, unless code stopped
     * waiting for another thread. The few samples of short operations may show other work of the same calls.
     */
    private @Nullable String placeOf(Part part, Phase phase, TimedOutCalls failed) {
        String sampled = operations.placeOf(phase, part.name());
        String thrown = failed.most(FailurePart::placeOf).stream().findFirst().orElse(null);
        boolean isShown = sampled != null && thrown != null && sampled.startsWith(thrown);
        boolean isGivenUp = !failed.first(FailurePart::givenUpIn).isEmpty();
        return thrown == null || isShown || (isGivenUp && sampled != null) ? sampled : thrown;
    }

    /**
     * Returns the place where the time limit is set: the property, or the line that stops waiting; empty if it is
     * unknown.
     */
    private String setBy(Phase phase, TimedOutCalls failed, double timeout) {
        String limit = failed.limit();
        if (!limit.isEmpty()) {
            return "; the timeout is " + limit + "; or make the peer's answer faster";
        }
        String place = failed.first(FailurePart::givenUpIn);
        if (!place.isEmpty()) {
            return "; the timeout is set in " + place;
        }
        String database = ofDatabase(failed);
        if (!database.isEmpty()) {
            return database;
        }
        String property = ofProperty(phase, timeout);
        return property.isEmpty() ? "" : "; the timeout is " + property;
    }

    /** Returns text that names the setting of the database that ended a statement; empty if there is none. */
    private static String ofDatabase(TimedOutCalls failed) {
        String setting = failed.first(StatedLimits::databaseSetting);
        return setting.isEmpty()
                ? ""
                : "; the timeout is the setting " + setting
                        + " of the database: raise it on the server, for the user or"
                        + " for the session, or remove the query timeout of the statement if the driver sets it";
    }

    /** Returns the limit and the property that set a timeout of the given time; empty if it is unknown. */
    String ofProperty(Phase phase, double timeout) {
        return evidence.limits().stream()
                .filter(one -> one.mayEnd(phase, timeout))
                .min(Comparator.comparingDouble(one -> Math.abs(one.limit().toNanos() - timeout)))
                .map(TimeLimit::text)
                .orElse("");
    }

    /** Returns the timeout of a remote call whose usual time is unknown. */
    TooShort neverAnswered(Part part, String limit) {
        String place = operations.placeOf(Phase.RPC, part.name());
        return new TooShort(
                part.name(),
                Change.of(
                        Where.CODE,
                        "set a longer timeout than " + limit + " for " + part.name()
                                + (place == null ? "" : ", called in " + place)
                                + ": its usual time is not known, because no answer within this time was recorded while"
                                + " calls met the target; if its provider usually answers sooner, read the diagnosis"
                                + " of the provider"),
                List.of());
    }
}
