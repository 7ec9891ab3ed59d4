package tern.rpc.cluster;

import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Candidate;

/** Functions for arrays of providers. */
final class Targets {

    // The ranks of usable providers, from lowest to highest: avoided providers, providers with weight 0, and all other
    // providers.
    private static final int AVOIDED = 1;
    private static final int WEIGHTLESS = 2;
    private static final int GOOD = 3;

    private Targets() {}

    static Target[] of(List<Candidate> candidates) {
        return candidates.stream().map(Target.class::cast).toArray(Target[]::new);
    }

    /**
     * Searches all providers for a usable provider, starting at a random index. Prefers a provider that is not avoided
     * and has a weight above 0. This search is needed only in the rare case that most providers are unusable.
     *
     * @return null if only the excluded provider can take the call, or if all other usable providers have weight 0
     */
    static @Nullable Target anyUsable(
            Target[] targets, @Nullable Candidate excluded, long now, RandomGenerator random) {
        Target usable = null;
        int rank = 0; // The rank of the best usable provider so far.
        int start = random.nextInt(targets.length);
        for (int i = 0; i < targets.length; i++) {
            Target target = targets[start + i < targets.length ? start + i : start + i - targets.length];
            if (target == excluded || !target.isUsable()) {
                continue;
            }
            int found = rank(target, now);
            if (found == GOOD) {
                return target;
            }
            if (found > rank) {
                rank = found;
                usable = target;
            }
        }
        return rank == WEIGHTLESS && isTaking(excluded, now) && usable != null && !usable.isHeld() ? null : usable;
    }

    /** Returns whether the provider of the previous attempt can also take the next attempt. */
    private static boolean isTaking(@Nullable Candidate excluded, long now) {
        return excluded != null && excluded.isUsable() && isGood(excluded, now);
    }

    /** Returns the rank of a usable provider. A provider with a higher rank is preferred. */
    static int rank(Candidate usable, long now) {
        return usable.isAvoided(now) ? AVOIDED : usable.attributes().weight() == 0 ? WEIGHTLESS : GOOD;
    }

    /** Returns whether a usable provider has a weight above 0 and is neither silent nor ejected. */
    static boolean isGood(Candidate usable, long now) {
        return rank(usable, now) == GOOD;
    }
}
