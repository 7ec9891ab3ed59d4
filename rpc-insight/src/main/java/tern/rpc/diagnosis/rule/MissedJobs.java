package tern.rpc.diagnosis.rule;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.excess.OperationCounts;
import tern.rpc.diagnosis.excess.Operations;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.OutsideOperations;

/**
 * Extends the advice for an operation that calls run more often than usual. Usually, a thread that serves no call runs
 * the operation regularly, for example in a scheduled job, but it has not run it in time. The extended advice is to
 * make this thread run the operation again, so that calls need not run it.
 */
public final class MissedJobs {

    private final OperationCounts counts;

    public MissedJobs(Evidence evidence, ExcessTime excess, Operations operations) {
        this.counts = new OperationCounts(evidence, excess, operations);
    }

    /**
     * Returns the recommended change. If a thread that serves no call has not run the operation in time, the change
     * begins with the advice to let this thread run the operation again.
     */
    public Change change(Change change, Part part) {
        Phase phase = Operations.phase(part.kind());
        if (phase == null || change.property() != null || !(counts.areNew(part) || counts.areMore(part))) {
            return change;
        }
        OutsideOperations.Series series = OutsideOperations.of(phase, part.name());
        OutsideOperations.Series.Pause pause = series == null ? null : series.tooLong(System.nanoTime());
        return pause == null
                ? change
                : Change.of(Where.CODE, advice(part.name(), pause) + "; otherwise " + change.text());
    }

    public static String advice(String operation, OutsideOperations.Series.Pause pause) {
        String threads = pause.threadName();
        String place = pause.lasts() ? place(pause.thread()) : null;
        return String.format(
                        Locale.ROOT,
                        "let the thread %s run %s in time again: the thread usually runs it every %.1f s, but %s %.0f"
                                + " s",
                        threads,
                        operation,
                        pause.usualNanos() / 1e9,
                        pause.lasts() ? "has not run it for" : "recently did not run it for",
                        pause.nanos() / 1e9)
                + (place == null ? "" : ", and is in " + place)
                + "; run the other work of this thread elsewhere"
                + (threads.startsWith("scheduling-")
                        ? ", or use more threads for scheduled jobs (spring.task.scheduling.pool.size)"
                        : "");
    }

    /** Returns the line of the application that the thread runs; null if there is none. */
    public static @Nullable String place(@Nullable Thread thread) {
        StackTraceElement frame = thread == null ? null : ApplicationCode.first(thread.getStackTrace());
        return frame == null ? null : ApplicationCode.shown(frame);
    }
}
