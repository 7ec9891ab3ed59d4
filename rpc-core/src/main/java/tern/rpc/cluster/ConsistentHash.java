package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * Sends calls with the same key to the same provider (rendezvous hashing), in proportion to the weights. A provider is
 * skipped in favour of the next provider for the key if it is not usable, is avoided, or has more than 1.25 times the
 * mean number of calls in flight. A list change moves only the keys of added and removed providers. Each choice
 * examines all providers in the subset. Thread-safe.
 */
final class ConsistentHash implements Balancer {

    private static final double LOAD_BOUND = 1.25;

    /**
     * The number of calls in flight that a provider may have in addition to 1.25 times the mean. Without it, a mean of
     * very few calls would restrict the choice too much.
     */
    private static final int FEW = 2;

    private final Target[] targets;
    private final long[] hashes;
    private final double[] shares;

    ConsistentHash(List<Candidate> candidates) {
        targets = Targets.of(candidates);
        shares = WeightedChoice.shares(candidates);
        hashes = new long[targets.length];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = Hashes.of(targets[i].endpoint());
        }
    }

    @Override
    public @Nullable Candidate pick(long key, @Nullable Candidate excluded, long now) {
        long hashed = key == 0 ? ThreadLocalRandom.current().nextLong() : key;
        double bound = bound();
        Target best = null;
        double highest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < targets.length; i++) {
            double rank = rank(hashed, i);
            Target target = targets[i];
            if (rank > highest
                    && target != excluded
                    && target.isUsable()
                    && target.inFlight() <= bound * shares[i] + FEW
                    && !target.isAvoided(now)) {
                highest = rank;
                best = target;
            }
        }
        return best != null ? best : Targets.anyUsable(targets, excluded, now);
    }

    private double bound() {
        int sum = 1;
        for (Target target : targets) {
            sum += target.inFlight();
        }
        return LOAD_BOUND * sum / targets.length;
    }

    /**
     * Returns the rank of a provider for a key (weighted rendezvous hashing). The provider with the highest rank gets
     * the key.
     */
    private double rank(long key, int index) {
        double uniform = ((Hashes.mix(key ^ hashes[index]) >>> 11) + 0.5) * 0x1.0p-53;
        return shares[index] <= 0 ? Double.NEGATIVE_INFINITY : shares[index] / -Math.log(uniform);
    }
}
