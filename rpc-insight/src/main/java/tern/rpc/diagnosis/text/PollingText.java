package tern.rpc.diagnosis.text;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.diagnosis.excess.RepeatedOperations;
import tern.rpc.pool.ApplicationCode;

/**
 * Creates the cause descriptions for code that polls: the code waits for another thread or process by repeating an
 * operation, with pauses in between.
 */
final class PollingText {

    /**
     * Matches Redis commands that take a lock, or that check whether another process holds it, as Spring's cache does
     * before each access.
     */
    private static final Pattern LOCK_COMMANDS = Pattern.compile("^SET|^EXISTS .*[Ll]ock");

    /** Matches statements on a table whose rows are locks. */
    private static final Pattern LOCK_ROWS =
            Pattern.compile("\\b\\w*(?:lock|mutex|lease|shedlock)s?\\b", Pattern.CASE_INSENSITIVE);

    private final ExcessTime excess;
    private final Operations operations;

    PollingText(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** Returns the description of code that polls on the threads of calls, or in tasks that a sample shows. */
    static CauseDescription describe(
            Part part, RepeatedOperations.Polled polled, String place, @Nullable StackTraceElement line) {
        return description(part, polled, times(polled) + ", in " + place, line);
    }

    /**
     * Returns the description of polling in a task that calls wait for, if the ledgers of the calls show the polling;
     * null otherwise.
     */
    @Nullable
    CauseDescription ofTask(Part wait, String place, @Nullable StackTraceElement line) {
        RepeatedOperations.Polled polled = new RepeatedOperations(excess, operations).polledInTasks(wait::equals);
        if (polled == null) {
            return null;
        }
        String known = operations.placeOf(polled.phase(), polled.name());
        String where = known != null
                ? ", in " + known
                : wait.kind() == Kind.ELSEWHERE
                        ? ", in asynchronous work of the calls"
                        : ", in the task for which calls wait in " + place;
        return description(wait, polled, times(polled) + where, line);
    }

    private static String times(RepeatedOperations.Polled polled) {
        return Math.round(polled.attempts()) + " times " + polled.name() + " per call";
    }

    private static CauseDescription description(
            Part part, RepeatedOperations.Polled polled, String attempts, @Nullable StackTraceElement line) {
        String name = part.kind() == Kind.ELSEWHERE ? "asynchronous work" : part.name();
        return new CauseDescription(
                "CODE POLLS",
                name + " for " + polled.name(),
                Change.of(Where.CODE, advice(polled) + attempts),
                line == null ? List.of() : List.of("line     " + ApplicationCode.shown(line)));
    }

    private static String advice(RepeatedOperations.Polled polled) {
        if (polled.phase() == Phase.REDIS
                && LOCK_COMMANDS.matcher(polled.name()).find()) {
            return "another client holds this lock in Redis: hold it for less time there, let it expire, delete its key"
                    + " if its holder no longer runs (GET shows the holder, PTTL the rest of its life), or give up"
                    + " sooner instead of trying ";
        }
        if (polled.phase() == Phase.SQL && LOCK_ROWS.matcher(polled.name()).find()) {
            return "another session or process holds this lock in the database: hold it for less time there, release"
                    + " its row if its holder no longer runs, or give up sooner instead of trying ";
        }
        return "find out what the code waits for, and why it comes late; wait for a signal (a message, a callback)"
                + " instead of trying ";
    }
}
