package tern.rpc.cluster;

import java.util.Set;
import java.util.TreeSet;
import tern.rpc.endpoint.Balancer;

/** Tern's load balancing policies, by the names used in properties. */
public final class Policies {

    /** Draws two providers at random and chooses the better provider. This policy is the default. */
    public static final String P2C = "p2c";

    /** Uses one provider after another. */
    public static final String ROUND_ROBIN = "round-robin";

    /** Sends calls with the same key to the same provider. */
    public static final String CONSISTENT_HASH = "consistent-hash";

    private static final Balancer.Factory BY_KEY = ConsistentHash::new;

    private Policies() {}

    public static Set<String> names() {
        return new TreeSet<>(Set.of(P2C, ROUND_ROBIN, CONSISTENT_HASH));
    }

    /**
     * Returns the policy with the given name.
     *
     * @throws IllegalArgumentException if the name is unknown
     */
    public static Balancer.Factory named(String name) {
        return switch (name) {
            case P2C -> PowerOfTwoChoices::new;
            case ROUND_ROBIN -> RoundRobin::new;
            case CONSISTENT_HASH -> BY_KEY;
            default ->
                throw new IllegalArgumentException(
                        "load balancing '" + name + "' is not known; expected one of " + String.join(", ", names()));
        };
    }

    /** Returns whether the policy is {@link #CONSISTENT_HASH}, which needs a key for each call. */
    static boolean isByKey(Balancer.Factory policy) {
        return policy == BY_KEY;
    }
}
