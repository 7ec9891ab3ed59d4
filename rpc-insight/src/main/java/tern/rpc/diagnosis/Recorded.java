package tern.rpc.diagnosis;

import java.time.Instant;
import java.util.List;

/**
 * What a flight recording showed.
 *
 * @param at its beginning
 * @param lines its largest entries, each beginning with a word that names it
 */
public record Recorded(Instant at, long seconds, List<String> lines) {

    public Recorded {
        lines = List.copyOf(lines);
    }
}
