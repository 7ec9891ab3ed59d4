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
 */
record Answers(Map<Phase, Long> byPhase, Map<String, Long> byMethod) {

    /** Stands for calls of which no answers were recorded. */
    static final Answers UNKNOWN = new Answers(Map.of(), Map.of());

    Answers {
        byPhase = Map.copyOf(byPhase);
        byMethod = Map.copyOf(byMethod);
    }

    /**
     * Returns when a call last got an answer from a store; null if that is unknown.
     *
     * @param store {@link Kind#SQL} for a database, {@link Kind#REDIS} for Redis
     */
    @Nullable
    Long of(Kind store) {
        return byPhase.get(store == Kind.REDIS ? Phase.REDIS : Phase.SQL);
    }

    /** Returns when a call to this method last ended without a failure; null if that is unknown. */
    @Nullable
    Long of(String method) {
        return byMethod.get(method);
    }
}
