package tern.rpc.diagnosis.calls;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Remembers which databases and Redis servers (stores) have stopped answering. A store stays silent until it answers a
 * call, even if only a few calls still wait for it directly: other calls may soon wait for a lock or a permit whose
 * holders wait for the store. Not thread-safe: only the diagnosis thread uses it.
 */
public final class Silence {

    // for each silent store, the time of its last answer
    private final Map<Kind, Map<String, Long>> answers = new EnumMap<>(Kind.class);

    /**
     * Records that a store does not answer.
     *
     * @param answered the time of its last answer
     */
    public void found(Kind store, String name, long answered) {
        answers.computeIfAbsent(store, unknown -> new HashMap<>()).put(name, answered);
    }

    /** Returns the names of the stores of the given kind that were found to be silent at some time. */
    public Set<String> names(Kind store) {
        return Set.copyOf(answers.getOrDefault(store, Map.of()).keySet());
    }

    /**
     * Returns whether a store that was found to be silent has not answered since.
     *
     * @param answered the time of its last answer; null if unknown
     */
    public boolean lasts(Kind store, String name, @Nullable Long answered) {
        return answered != null
                && answered.equals(answers.getOrDefault(store, Map.of()).get(name));
    }
}
