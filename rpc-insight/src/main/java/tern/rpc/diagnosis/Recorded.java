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
}
