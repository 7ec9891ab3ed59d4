package tern.rpc.cluster;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.TimeLimit;
import tern.rpc.endpoint.Rules;

/**
 * The rules of one cluster: the rules of its source combined with the rules of the application. All methods except
 * {@link #timeLimit} require the cluster's lock.
 */
final class RulesInForce {

    private static final Logger LOG = LoggerFactory.getLogger(Cluster.class);

    private Rules own = Rules.NONE;
    private Rules current = Rules.NONE;
    private volatile @Nullable TimeLimits timeLimits; // timeLimits is null if there are no rules.

    /** Sets the application's rules, which apply after the next {@link #combine}. */
    void own(Rules changed) {
        own = changed;
    }

    /**
     * Combines the source's rules with the application's rules, which take precedence unless they yield to the source.
     *
     * @param service the name of the service in the log
     */
    void combine(Rules ofSource, String service) {
        Rules combined = own.yieldsToSource() ? RulesInOrder.of(own, ofSource) : RulesInOrder.of(ofSource, own);
        if (combined.equals(current)) {
            return;
        }
        // Rules that list an application's providers are replaced after each change of the provider list. The
        // replacement is not logged if the text of the rules is unchanged.
        if (!combined.toString().equals(current.toString())) {
            LOG.info("{}: the rules are now: {}", service, combined);
        }
        timeLimits = combined == Rules.NONE ? null : new TimeLimits(combined);
        current = combined;
    }

    Rules current() {
        return current;
    }

    /**
     * Returns the time limit that rules set for the method, or null if no rule sets a limit. Any thread may call this.
     */
    @Nullable
    TimeLimit timeLimit(String method) {
        TimeLimits limits = timeLimits;
        return limits == null ? null : limits.of(method);
    }
}
