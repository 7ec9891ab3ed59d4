package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * Draws two providers at random by weight and chooses the one with the lower score. This avoids slow, busy and failing
 * providers without examining all providers. Thread-safe.
 */
final class PowerOfTwoChoices implements Balancer {

    /** The number of pairs to draw before all providers are examined. */
    private static final int PAIRS = 4;

    /** The minimum factor by which the second provider of a pair must have a lower score to be chosen. */
    private static final double CLEARLY = 1.2;

    private final Target[] targets;
    private final WeightedChoice choice;

    PowerOfTwoChoices(List<Candidate> candidates) {
        targets = Targets.of(candidates);
        choice = new WeightedChoice(candidates);
    }

    @Override
    public @Nullable Candidate pick(long key, @Nullable Candidate excluded, long now) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        for (int i = 0; i < PAIRS; i++) {
            int first = choice.draw(random.nextLong());
            int second = choice.draw(random.nextLong());
            if (second == first) {
                second = first + 1 < targets.length ? first + 1 : 0;
            }
            Target picked = better(targets[first], targets[second], excluded, now, random);
            if (picked != null) {
                return picked;
            }
        }
        return Targets.anyUsable(targets, excluded, now);
    }

    private static @Nullable Target better(
            Target one, Target other, @Nullable Candidate excluded, long now, ThreadLocalRandom random) {
        boolean isOneGood = isGood(one, excluded, now);
        boolean isOtherGood = other.attributes().weight() > 0 && isGood(other, excluded, now);
        if (!isOneGood || !isOtherGood) {
            return isOneGood ? one : isOtherGood ? other : null;
        }
        double warmth = one.warmth(now);
        if (warmth < 1 && random.nextFloat() >= warmth) {
            return other;
        }
        if (other.score(now) * CLEARLY >= one.score(now)) {
            return one;
        }
        double otherWarmth = other.warmth(now);
        return otherWarmth < 1 && random.nextFloat() >= otherWarmth ? one : other;
    }

    private static boolean isGood(Target target, @Nullable Candidate excluded, long now) {
        return target != excluded && target.isUsable() && !target.isAvoided(now);
    }
}
