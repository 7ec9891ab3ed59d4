package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * Sends calls with the same key to the same provider, in proportion to the weights. The hash of the key selects one of
 * {@value #SLOTS} slots, and weighted rendezvous hashing selects the provider of each slot. If that provider is not
 * usable, is avoided, or has more than 1.25 times the mean number of calls in flight, the slot's next provider is used
 * instead. When the provider list changes, only the keys of added and removed providers move. A choice takes constant
 * time unless it is the first choice for a slot or skips a provider. Thread-safe.
 */
final class ConsistentHash implements Balancer {

    /**
     * The number of slots. The number must not depend on the number of providers, because each list change could then
     * move all keys.
     */
    private static final int SLOTS = 1 << 16;

    private static final int SLOT_BITS = 16;

    /** The maximum number of providers whose indexes fit into {@link #owners}. */
    private static final int MAX_OWNERS = Character.MAX_VALUE;

    /**
     * If there are at most {@value} providers, a slot's provider is computed for each call. The computation is then
     * cheap enough to do without a table.
     */
    private static final int FEW_TARGETS = 16;

    private static final double LOAD_BOUND = 1.25;

    /**
     * The number of calls in flight that a provider may have in addition to 1.25 times the mean. Without this addition,
     * too few providers could be chosen while few calls are in flight.
     */
    private static final int FEW = 2;

    /**
     * How long the computed mean number of calls in flight is reused, because the computation looks at all providers.
     */
    private static final long BOUND_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final double UNKNOWN = -1;

    private final Target[] targets;
    private final long[] hashes;
    private final double[] shares;
    // For each slot, the index of its provider plus 1, or 0 if the provider has not been computed yet. Several threads
    // can compute a slot's provider at the same time, with the same result. This field is null before the first call,
    // because many references get no calls. The field is also null if there are few providers.
    private volatile char @Nullable [] owners;
    // 1.25 times the mean number of calls in flight when the value was last computed. The value is computed only if a
    // provider has several calls in flight.
    private volatile double lastBound;
    private volatile long boundNanos;

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
        int slot = (int) (Hashes.mix(hashed) >>> (Long.SIZE - SLOT_BITS));
        int owner = owner(slot);
        double bound = UNKNOWN;
        if (owner >= 0 && isOpen(targets[owner], excluded, now)) {
            if (hasFewCalls(owner, now)) {
                return targets[owner];
            }
            bound = bound();
            lastBound = bound;
            boundNanos = now;
            if (isWithin(bound, owner)) {
                return targets[owner];
            }
        }
        Target next = next(slot, excluded, bound, now);
        return next != null ? next : Targets.anyUsable(targets, excluded, now, ThreadLocalRandom.current());
    }

    /** Returns the index of the slot's provider, or -1 if there are too many providers for the table. */
    private int owner(int slot) {
        if (targets.length > MAX_OWNERS) {
            return -1;
        }
        if (targets.length <= FEW_TARGETS) {
            return compute(slot);
        }
        char[] table = owners;
        if (table == null) {
            table = new char[SLOTS];
            owners = table;
        }
        int known = table[slot] - 1;
        if (known >= 0) {
            return known;
        }
        int computed = compute(slot);
        table[slot] = (char) (computed + 1);
        return computed;
    }

    private int compute(int slot) {
        long hashed = Hashes.mix(slot + 1L);
        int best = 0;
        double highest = -1;
        for (int i = 0; i < targets.length; i++) {
            double rank = rank(hashed, i, highest);
            if (rank > highest) {
                highest = rank;
                best = i;
            }
        }
        return best;
    }

    /** Returns the rank of a provider for a slot, or 0 if this rank certainly does not exceed the given rank. */
    private double rank(long hashed, int index, double highest) {
        double uniform = ((Hashes.mix(hashed ^ hashes[index]) >>> 11) + 0.5) * 0x1.0p-53;
        // The rank is at most the share divided by (1 - uniform). For most providers, this upper bound is already below
        // the given rank, so no logarithm needs to be computed.
        return shares[index] <= highest * (1 - uniform) ? 0 : shares[index] / -Math.log(uniform);
    }

    private static boolean isOpen(Target target, @Nullable Candidate excluded, long now) {
        return target != excluded && target.isUsable() && !target.isAvoided(now);
    }

    /**
     * A quick check that does not look at all providers. Returns true only if the provider certainly has few calls in
     * flight compared with the mean; false if that is unknown.
     */
    private boolean hasFewCalls(int index, long now) {
        return targets[index].inFlight() <= FEW || (now - boundNanos < BOUND_NANOS && isWithin(lastBound, index));
    }

    private boolean isWithin(double bound, int index) {
        return targets[index].inFlight() <= bound * shares[index] + FEW;
    }

    /**
     * Returns the provider with the highest rank for the slot among the providers that can take the call.
     *
     * @param known 1.25 times the mean number of calls in flight, or UNKNOWN
     */
    private @Nullable Target next(int slot, @Nullable Candidate excluded, double known, long now) {
        long hashed = Hashes.mix(slot + 1L);
        double bound = known;
        Target best = null;
        double highest = 0;
        for (int i = 0; i < targets.length; i++) {
            double rank = rank(hashed, i, highest);
            if (rank <= highest || !isOpen(targets[i], excluded, now)) {
                continue;
            }
            if (targets[i].inFlight() > FEW) {
                bound = bound == UNKNOWN ? bound() : bound;
                if (!isWithin(bound, i)) {
                    continue;
                }
            }
            highest = rank;
            best = targets[i];
        }
        return best;
    }

    private double bound() {
        int sum = 1;
        for (Target target : targets) {
            sum += target.inFlight();
        }
        return LOAD_BOUND * sum / targets.length;
    }
}
