package tern.rpc.cluster;

import tern.rpc.endpoint.Balancer;

/**
 * The settings that determine how a reference chooses among its providers.
 *
 * @param policy creates the balancer
 * @param zone the client's zone, whose providers are preferred; may be empty
 * @param tag the default call tag; may be empty
 * @param subset the maximum number of providers that the client connects to, or 0 for all
 */
public record ClusterSettings(Balancer.Factory policy, String zone, String tag, int subset) {

    /** The default maximum number of providers that the client connects to. */
    public static final int DEFAULT_SUBSET = 100;

    public static final ClusterSettings DEFAULT =
            new ClusterSettings(Policies.named(Policies.P2C), "", "", DEFAULT_SUBSET);

    public ClusterSettings {
        if (subset < 0) {
            throw new IllegalArgumentException("subset is " + subset + "; expected 0 for all, or more");
        }
    }

    /** Returns the name of the load balancing policy, for logs and error messages. */
    String policyName() {
        return policy instanceof NamedPolicy named
                ? "'" + named.name() + "'"
                : policy.getClass().getName();
    }

    public ClusterSettings withPolicy(Balancer.Factory policy) {
        return new ClusterSettings(policy, zone, tag, subset);
    }

    public ClusterSettings withZone(String zone) {
        return new ClusterSettings(policy, zone, tag, subset);
    }

    public ClusterSettings withTag(String tag) {
        return new ClusterSettings(policy, zone, tag, subset);
    }

    public ClusterSettings withSubset(int subset) {
        return new ClusterSettings(policy, zone, tag, subset);
    }
}
