package tern.rpc.diagnosis.sample;

import java.util.Comparator;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;

/** Finds the tasks and background threads that most likely hold the locks that calls wait for. */
public final class LockingThreads {

    /**
     * A thread counts as a likely holder of a lock only if at least {@value} samples show it at the same line. Virtual
     * threads are sampled less often, so one sample is enough for them.
     */
    private static final int MIN_HOLDING = 3;

    private final TaskWatch watch;

    LockingThreads(TaskWatch watch) {
        this.watch = watch;
    }

    /**
     * The tasks or threads that most likely hold a lock.
     *
     * @param threads the common name of the threads, without numbers
     * @param line the line where they were found most often
     * @param looks the number of samples at this line
     */
    public record Holder(String threads, StackTraceElement line, int looks) {}

    /**
     * Returns the tasks or background threads that most likely hold the lock that a call waits for. Background threads
     * serve no call. The likely holders have taken a lock in the class in which the call waits, and do not wait for a
     * lock themselves. Tasks that sleep come last.
     *
     * @param waiting the call's waiting frame
     * @return null if there are none
     */
    @Nullable
    public Holder likelyHolder(@Nullable StackTraceElement waiting) {
        if (waiting == null) {
            return null;
        }
        Holder best = null;
        int rank = Integer.MAX_VALUE;
        for (Map.Entry<String, TaskSamples> entry : watch.groups().entrySet()) {
            for (Map.Entry<TaskSamples.Inside, Integer> found :
                    entry.getValue().mayHold(waiting).entrySet()) {
                TaskSamples.Inside inside = found.getKey();
                boolean isMoreOften = best == null || found.getValue() > best.looks();
                if (found.getValue() >= (watch.isAlwaysSeen(entry.getKey()) ? MIN_HOLDING : 1)
                        && (inside.rank() < rank || (inside.rank() == rank && isMoreOften))) {
                    best = new Holder(entry.getKey(), inside.line(), found.getValue());
                    rank = inside.rank();
                }
            }
        }
        return best;
    }

    /**
     * Returns the most frequent kind of activity of the holder's threads at the holder's line of code; null if unknown.
     */
    public Part.@Nullable Kind workAt(Holder holder) {
        TaskSamples group = watch.executor(holder.threads());
        return group == null
                ? null
                : group.lines.entrySet().stream()
                        .filter(entry -> entry.getValue().equals(holder.line()))
                        .max(Comparator.comparingDouble(entry -> group.parts.of(entry.getKey())))
                        .map(entry -> entry.getKey().kind())
                        .orElse(null);
    }
}
