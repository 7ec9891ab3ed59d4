package tern.rpc.cluster;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;

/**
 * Draws two providers at random by weight and chooses the better provider. The same provider may be drawn twice. This
 * keeps the shares of healthy providers proportional to their weights. By comparing only two providers, the balancer
 * avoids slow, busy and failing providers without looking at all providers. Thread-safe.
 */
final class PowerOfTwoChoices implements Balancer {

    /**
     * The maximum number of pairs to draw. Another pair is drawn if both providers of a pair are slow, failing or
     * avoided. If no drawn provider can be used, all providers are searched.
     */
    private static final int PAIRS = 4;

    /**
     * If the cost of a provider exceeds this threshold, another pair is drawn even if the provider is not slow on
     * average. Healthy providers must rarely exceed the threshold, because their shares would otherwise not be
     * proportional to their weights.
     */
    private static final double BAD = 4.5;

    /**
     * The first provider of a pair is chosen if the second provider is not better. The second provider is chosen if it
     * is at least 50 % better. Between these limits, the choice is random.
     */
    private static final double CLEARLY = 0.5;

    private final Target[] targets;
    private final WeightedChoice choice;
    private final Supplier<? extends RandomGenerator> randoms;

    PowerOfTwoChoices(List<Candidate> candidates) {
        this(candidates, ThreadLocalRandom::current);
    }

    PowerOfTwoChoices(List<Candidate> candidates, Supplier<? extends RandomGenerator> randoms) {
        this.targets = Targets.of(candidates);
        this.choice = new WeightedChoice(candidates);
        this.randoms = randoms;
    }

    @Override
    public @Nullable Candidate pick(long key, @Nullable Candidate excluded, long now) {
        RandomGenerator random = randoms.get();
        Target best = null; // The best of the slow and failing providers found so far.
        for (int i = 0; i < PAIRS; i++) {
            int first = choice.draw(random.nextLong());
            int second = choice.draw(random.nextLong());
            Target one = targets[first];
            if (second == first) {
                if (isGood(one, excluded, now) && !one.isSlow(now) && one.warmth(now) >= 1) {
                    return one;
                }
                second = first + 1 < targets.length ? first + 1 : 0;
            }
            Target picked = better(one, targets[second], excluded, now, random);
            if (picked == null) {
                continue;
            }
            double cost = picked.judgedCost(now);
            if (cost <= BAD) {
                return picked;
            }
            best = best == null || cost < best.judgedCost(now) ? picked : best;
        }
        return best != null ? best : Targets.anyUsable(targets, excluded, now, random);
    }

    private static @Nullable Target better(
            Target one, Target other, @Nullable Candidate excluded, long now, RandomGenerator random) {
        boolean isOneGood = isGood(one, excluded, now);
        boolean isOtherGood = other.attributes().weight() > 0 && isGood(other, excluded, now);
        if (!isOneGood || !isOtherGood) {
            return isOneGood ? one : isOtherGood ? other : null;
        }
        double warmth = one.warmth(now);
        if (warmth < 1 && random.nextFloat() >= warmth) {
            return other;
        }
        double surplus = one.judgedCost(now) * load(one, other) / (other.judgedCost(now) * load(other, one)) - 1;
        if (surplus <= 0 || (surplus < CLEARLY && random.nextFloat() * CLEARLY >= surplus)) {
            return one;
        }
        double otherWarmth = other.warmth(now);
        return otherWarmth < 1 && random.nextFloat() >= otherWarmth ? one : other;
    }

    /**
     * Returns the number of calls that a provider has in flight, relative to its share of the calls to both providers.
     * If no calls are in flight, the weight is ignored, because the random draw has already taken the weight into
     * account.
     */
    private static double load(Target target, Target partner) {
        int own = target.inFlight();
        double weight = target.relativeWeight();
        double part = (own + partner.inFlight()) * weight / (weight + partner.relativeWeight());
        return (1 + own) / (1 + part);
    }

    private static boolean isGood(Target target, @Nullable Candidate excluded, long now) {
        return target != excluded && target.isUsable() && !target.isAvoided(now);
    }
}
