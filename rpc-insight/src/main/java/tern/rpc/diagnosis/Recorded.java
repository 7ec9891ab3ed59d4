package tern.rpc.diagnosis;

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
     * @param now the current miss of the latency target; null if calls meet the target
     * @param latest the last period with a first cause; null if there was none
     */
    boolean isOf(Diagnosis.@Nullable Miss now, History.@Nullable Episode latest) {
        if (now == null) {
            return miss == null;
        }
        boolean isEarlier = latest != null
                && latest.miss().equals(now.since())
                && at.plusSeconds(seconds).isBefore(latest.from());
        return now.since().equals(miss) && !isEarlier;
    }
}
