package tern.rpc.diagnosis;

import java.time.Instant;
import java.util.List;

/**
 * The summary of a flight recording.
 *
 * @param at the beginning of the recording
 * @param lines the largest entries; the first word of each line names its subject
 */
public record Recorded(Instant at, long seconds, List<String> lines) {

    public Recorded {
        lines = List.copyOf(lines);
    }
}
