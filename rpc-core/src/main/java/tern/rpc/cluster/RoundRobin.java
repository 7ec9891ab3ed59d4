package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * Uses the providers in turn, in proportion to their weights (static stride scheduling). For example, a
 * provider with half of the largest weight is skipped in every second round. Unusable and avoided providers are also
 * skipped. Thread-safe.
 */
final class RoundRobin implements Balancer {

    /** The scaled value of the largest weight. */
    private static final int FULL = 0xFFFF;

    /**
     * The maximum number of providers in the rotation that are tried for one call. If none of them is usable, a
     * provider is drawn at random.
     */
    private static final int MAX_TURNS = 64;

    private final Target[] targets;
    // The scaled weights. The largest weight is FULL. The array is empty if all weights are equal.
    private final int[] strides;
    private final WeightedChoice choice;
    private final AtomicInteger position;

    /**
     * Creates a balancer that starts at a random provider. Otherwise, the first provider of the list would get an
     * additional call after each change of the list.
     */
    RoundRobin(List<Candidate> candidates) {
        this(candidates, ThreadLocalRandom.current().nextInt(candidates.size()));
    }

    /** @param start the index of the first provider to use */
    RoundRobin(List<Candidate> candidates, int start) {
        position = new AtomicInteger(start);
        targets = Targets.of(candidates);
        strides = strides(candidates);
        choice = new WeightedChoice(candidates);
    }

    private static int[] strides(List<Candidate> candidates) {
        int largest = 0;
        int smallest = Integer.MAX_VALUE;
        for (Candidate candidate : candidates) {
            largest = Math.max(largest, candidate.attributes().weight());
            smallest = Math.min(smallest, candidate.attributes().weight());
        }
        if (largest == smallest) {
            return new int[0];
        }
        int[] strides = new int[candidates.size()];
        for (int i = 0; i < strides.length; i++) {
            long weight = candidates.get(i).attributes().weight();
            strides[i] = weight == 0 ? 0 : (int) Math.max(1, weight * FULL / largest);
        }
        return strides;
    }

    @Override
    public @Nullable Candidate pick(long key, @Nullable Candidate excluded, long now) {
        for (int i = 0; i < MAX_TURNS; i++) {
            long step = position.getAndIncrement() & 0xFFFF_FFFFL;
            int index = (int) (step % targets.length);
            if (strides.length > 0 && !isDue(step / targets.length, index)) {
                continue;
            }
            if (isOpen(targets[index], excluded, now)) {
                return targets[index];
            }
        }
        // If only providers with small weights are usable, no provider is used in most rounds. A provider is then drawn
        // at random by weight, which keeps the shares proportional to the weights.
        Target drawn = targets[choice.draw(ThreadLocalRandom.current().nextLong())];
        return isOpen(drawn, excluded, now)
                ? drawn
                : Targets.anyUsable(targets, excluded, now, ThreadLocalRandom.current());
    }

    private static boolean isOpen(Target target, @Nullable Candidate excluded, long now) {
        return target != excluded && target.isUsable() && !target.isAvoided(now);
    }

    /**
     * Returns whether the provider is used in this round. In each round, the provider's counter (stride scheduling)
     * grows by the provider's weight. Each use of the provider subtracts the largest weight from the counter. The
     * initial value of the counter depends on the provider's index. Otherwise, all providers with equal weights would
     * be skipped in the same rounds.
     */
    private boolean isDue(long round, int index) {
        long stride = strides[index];
        long before = (stride * round + (long) index * (FULL / 2)) % FULL;
        return before + stride >= FULL;
    }
}
