package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Candidate;

/** Functions for arrays of providers. */
final class Targets {

    private Targets() {}

    static Target[] of(List<Candidate> candidates) {
        return candidates.stream().map(Target.class::cast).toArray(Target[]::new);
    }

    /**
     * Searches all providers for a usable one, from a random start. Prefers a provider that is not avoided and has a
     * weight above 0. The search is needed only in the rare case that most providers are unusable.
     */
    static @Nullable Target anyUsable(Target[] targets, @Nullable Candidate excluded, long now) {
        Target usable = null;
        int rank = 0; // The rank of the best usable provider so far: 1 if it is avoided, 2 if its weight is 0.
        int start = ThreadLocalRandom.current().nextInt(targets.length);
        for (int i = 0; i < targets.length; i++) {
            Target target = targets[start + i < targets.length ? start + i : start + i - targets.length];
            if (target == excluded || !target.isUsable()) {
                continue;
            }
            int found = target.isAvoided(now) ? 1 : target.attributes().weight() == 0 ? 2 : 3;
            if (found == 3) {
                return target;
            }
            if (found > rank) {
                rank = found;
                usable = target;
            }
        }
        return usable;
    }
}
