package tern.rpc.endpoint;

import java.time.Instant;
import java.util.List;

/**
 * A list of providers with its state. Immutable. The list contains each endpoint once. An unchanged instance should be
 * the same object as in the previous snapshot, because comparing identical objects is fast.
 *
 * @param since the time when the list entered this state
 * @param why the reason for the state, such as {@code 10.0.0.9:2181 does not answer}; may be empty
 * @param rules the current rules; kept while the source is unreachable
 */
public record EndpointSnapshot(State state, List<Instance> instances, Instant since, String why, Rules rules) {

    /** The state of a list of providers. */
    public enum State {
        /** The source has not reported anything yet. The list is empty. */
        UNKNOWN,
        /** The list is current and contains at least one provider. */
        FRESH,
        /**
         * The source cannot be reached. The list is the last list that the source reported, or a list read from a file.
         */
        STALE,
        /** The source reports an empty list. */
        EMPTY
    }

    /** Creates a snapshot without rules. */
    public EndpointSnapshot(State state, List<Instance> instances, Instant since, String why) {
        this(state, instances, since, why, Rules.NONE);
    }

    public EndpointSnapshot {
        instances = List.copyOf(instances);
        boolean mustBeEmpty = state == State.UNKNOWN || state == State.EMPTY;
        boolean mustHaveEntries = state == State.FRESH;
        if (instances.isEmpty() ? mustHaveEntries : mustBeEmpty) {
            throw new IllegalArgumentException("a list of " + instances.size() + " instances cannot be " + state);
        }
    }

    /** Returns the snapshot for a source that has not reported a list yet. */
    public static EndpointSnapshot unknown(Instant since, String why) {
        return new EndpointSnapshot(State.UNKNOWN, List.of(), since, why);
    }

    /**
     * Returns the snapshot for a list that a source reported. The state is {@link State#EMPTY} if the list has no
     * entries.
     */
    public static EndpointSnapshot heard(List<Instance> instances, Instant since) {
        return new EndpointSnapshot(instances.isEmpty() ? State.EMPTY : State.FRESH, instances, since, "");
    }

    /** Returns a snapshot with the last known list of an unreachable source. */
    public static EndpointSnapshot stale(List<Instance> instances, Instant since, String why) {
        return new EndpointSnapshot(State.STALE, instances, since, why);
    }

    public EndpointSnapshot withRules(Rules rules) {
        return new EndpointSnapshot(state, instances, since, why, rules);
    }

    /**
     * Returns whether both snapshots contain the same state, reason and rules and the same instances in the same order.
     */
    public boolean saysTheSameAs(EndpointSnapshot other) {
        return hasSameState(other) && instances.equals(other.instances);
    }

    /** Returns whether both snapshots contain the same state, reason and rules. */
    public boolean hasSameState(EndpointSnapshot other) {
        return state == other.state && why.equals(other.why) && rules.equals(other.rules);
    }
}
