package tern.rpc.diagnosis.machine;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The summary of a flight recording.
 *
 * @param at the beginning of the recording
 * @param miss the start of the miss of the latency target during which the recording was started; null if calls met the
 *     target
 * @param lines the largest entries, one per line; the first word of each line names its kind
 */
public record Recorded(Instant at, @Nullable Instant miss, long seconds, List<String> lines) {

    public Recorded {
        lines = List.copyOf(lines);
    }

    /**
     * Returns whether this recording shows the current state: calls missed the latency target both at the start of the
     * recording and now, or met it both times. A recording that ended before the current first cause was ranked first
     * shows a different cause.
     *
     * @param now the beginning of the current miss of the latency target; null if calls meet the target
     * @param firstSince when the diagnosis began to rank the current first cause first; null if it has ranked none yet
     */
    public boolean isOf(@Nullable Instant now, @Nullable Instant firstSince) {
        if (now == null) {
            return miss == null;
        }
        return now.equals(miss)
                && (firstSince == null || !at.plusSeconds(seconds).isBefore(firstSince));
    }
}
