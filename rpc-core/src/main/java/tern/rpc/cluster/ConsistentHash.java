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
        double bound = Double.NaN; // Computed only if a provider has several calls in flight.
        Target best = null;
        double highest = 0;
        for (int i = 0; i < targets.length; i++) {
            double uniform = ((Hashes.mix(hashed ^ hashes[i]) >>> 11) + 0.5) * 0x1.0p-53;
            // The rank is at most shares[i] / (1 - uniform). For most providers, this shows without a logarithm that
            // the rank is too low.
            if (shares[i] <= highest * (1 - uniform)) {
                continue;
            }
            double rank = shares[i] / -Math.log(uniform); // weighted rendezvous hashing
            Target target = targets[i];
            if (rank <= highest || target == excluded || !target.isUsable()) {
                continue;
            }
            int inFlight = target.inFlight();
            if (inFlight > FEW && Double.isNaN(bound)) {
                bound = bound();
            }
            if ((inFlight <= FEW || inFlight <= bound * shares[i] + FEW) && !target.isAvoided(now)) {
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
}
