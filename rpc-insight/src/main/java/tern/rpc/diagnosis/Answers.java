package tern.rpc.diagnosis;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Part.Kind;

/**
 * The last calls that ended without a failure. They show that a store answers.
 *
 * @param byPhase for each kind of operation, when the last of these calls with such an operation ended
 * @param byMethod for each method, when the last of these calls to it ended
 * @param byStore when each data source and each Redis server last answered; empty if there is only one
 */
record Answers(Map<Phase, Long> byPhase, Map<String, Long> byMethod, Map<String, Long> byStore) {

    /** Stands for calls of which no answers were recorded. */
    static final Answers UNKNOWN = new Answers(Map.of(), Map.of(), Map.of());

    Answers {
        byPhase = Map.copyOf(byPhase);
        byMethod = Map.copyOf(byMethod);
        byStore = Map.copyOf(byStore);
    }

    /**
     * Returns when a call last got an answer from a store; null if that is unknown.
     *
     * @param store {@link Kind#SQL} for a database, {@link Kind#REDIS} for Redis
     * @param name the name of the data source or Redis server; empty if there is only one
     */
    @Nullable
    Long of(Kind store, String name) {
        if (!name.isEmpty()) {
            return byStore.get(name);
        }
        return byPhase.get(store == Kind.REDIS ? Phase.REDIS : Phase.SQL);
    }

    /** Returns when a call to this method last ended without a failure; null if that is unknown. */
    @Nullable
    Long of(String method) {
        return byMethod.get(method);
    }
}
