package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Balancer;
import tern.rpc.endpoint.Candidate;
import tern.rpc.endpoint.Outcome;

/**
 * The providers for calls with one tag. The providers in the client's zone are preferred. Providers in other zones are
 * used if too few providers in the client's zone are healthy, or if the chosen provider is overloaded. Immutable except
 * for its balancers.
 */
final class Group {

    /**
     * A provider in another zone is chosen only if its score, multiplied by this factor, is still lower than the score
     * of the provider chosen in the client's zone.
     */
    private static final double SPILL = 4;

    private static final double MIN_WEIGHT = 0.01;

    private final List<Target> targets;
    // The balancer for the providers in the client's zone, or for all providers if there are no zones.
    private final Balancer first;
    private final @Nullable Balancer others;
    private final ClusterSettings settings;
    private final int omittedNear; // the number of providers in the client's zone that without() has omitted
    private volatile double localShare = 1; // the share of calls that stay in the client's zone

    Group(List<Target> targets, ClusterSettings settings) {
        this(weighted(targets), settings, 0);
    }

    private Group(List<Target> targets, ClusterSettings settings, int omittedNear) {
        this.targets = List.copyOf(targets);
        this.settings = settings;
        this.omittedNear = omittedNear;
        List<Candidate> near = ofZone(targets, settings.zone(), true);
        List<Candidate> far = ofZone(targets, settings.zone(), false);
        boolean hasZones = !settings.zone().isEmpty() && !near.isEmpty() && !far.isEmpty();
        this.first = BrokenBalancer.made(settings, hasZones ? near : List.copyOf(targets));
        this.others = hasZones ? BrokenBalancer.made(settings, far) : null;
    }

    private static List<Target> weighted(List<Target> targets) {
        double[] shares = WeightedChoice.shares(targets);
        for (int i = 0; i < shares.length; i++) {
            targets.get(i).relativeWeight(Math.max(shares[i], MIN_WEIGHT));
        }
        return targets;
    }

    private static List<Candidate> ofZone(List<Target> targets, String zone, boolean same) {
        return targets.stream()
                .filter(target -> target.attributes().zone().equals(zone) == same)
                .map(Candidate.class::cast)
                .toList();
    }

    List<Target> targets() {
        return targets;
    }

    /**
     * Returns this group without the given providers, which cannot take a particular call. Returns this group if no
     * other provider is left. The relative weights of the providers do not change, because other calls still use this
     * group.
     */
    Group without(Set<Target> omitted, long now) {
        List<Target> left = new ArrayList<>();
        int near = 0;
        for (Target target : targets) {
            if (!omitted.contains(target)) {
                left.add(target);
            } else if (target.attributes().zone().equals(settings.zone())) {
                near++;
            }
        }
        if (left.isEmpty() || left.size() == targets.size()) {
            return this;
        }
        Group narrowed = new Group(left, settings, near);
        narrowed.measure(now);
        return narrowed;
    }

    /**
     * Returns whether calls may be sent to a slow provider to find out whether it has recovered. Returns false for
     * {@link ConsistentHash}, because the key of a call determines its provider. Also returns false for an
     * application's own balancer, because the client does not know the reasons for its choices.
     */
    boolean takesTrials() {
        return first instanceof PowerOfTwoChoices || first instanceof RoundRobin;
    }

    /**
     * Measures the share of the calls that stays in the client's zone. A good provider is usable, has the service and a
     * weight above 0, and is neither silent nor ejected. If fewer than half of the zone's providers are good, some of
     * the calls go to providers in other zones.
     *
     * @return whether more than half of the connected providers are ejected. Ejections are then ignored. Providers with
     *     weight 0 count only if all providers have weight 0, because they do not take over calls from ejected
     *     providers
     */
    boolean measure(long now) {
        String zone = settings.zone();
        int taking = 0;
        int ejected = 0;
        int weightless = 0;
        int weightlessEjected = 0;
        int near = omittedNear;
        int nearGood = 0;
        for (Target target : targets) {
            boolean isUsable = target.isUsable();
            boolean isEjected = isUsable && target.node().isEjected(now);
            if (isUsable && target.attributes().weight() > 0) {
                taking++;
                ejected += isEjected ? 1 : 0;
            } else if (isUsable) {
                weightless++;
                weightlessEjected += isEjected ? 1 : 0;
            }
            if (!zone.isEmpty() && target.attributes().zone().equals(zone)) {
                boolean isGood = isUsable
                        && target.attributes().weight() > 0
                        && !isEjected
                        && !target.node().isStalled(now)
                        && !target.lacksService(now);
                near++;
                nearGood += isGood ? 1 : 0;
            }
        }
        localShare = near == 0 ? 1 : Math.min(1, 2.0 * nearGood / near);
        return taking > 0 ? 2 * ejected > taking : 2 * weightlessEjected > weightless;
    }

    @Nullable
    Candidate pick(long key, @Nullable Candidate excluded, long now) {
        Balancer far = others;
        if (far == null) {
            return first.pick(key, excluded, now);
        }
        double share = localShare;
        Candidate near =
                share < 1 && ThreadLocalRandom.current().nextFloat() >= share ? null : first.pick(key, excluded, now);
        if (near != null && near.score(now) < SPILL && Targets.isGood(near, now)) {
            return near;
        }
        Candidate farther = far.pick(key, excluded, now);
        if (near == null) {
            if (farther != null && Targets.isGood(farther, now)) {
                return farther;
            }
            near = first.pick(key, excluded, now);
        }
        if (near == null || farther == null) {
            return near == null ? farther : near;
        }
        int nearRank = Targets.rank(near, now);
        int farRank = Targets.rank(farther, now);
        if (nearRank != farRank) {
            return nearRank > farRank ? near : farther;
        }
        boolean isBetter = near.isAvoided(now) || farther.score(now) * SPILL < near.score(now);
        return isBetter ? farther : near;
    }

    /** Returns whether a call can be sent to a provider of this group immediately. */
    boolean isUsable() {
        return targets.stream().anyMatch(Target::isUsable);
    }

    /**
     * Returns whether a provider other than {@code besides} is connected, or will be connected soon, and probably
     * offers the service.
     */
    boolean hasUsable(@Nullable Target besides, long now) {
        // A loop is used instead of a stream, because it allocates nothing, and each call runs this method while
        // providers run different releases.
        for (int i = 0; i < targets.size(); i++) {
            Target target = targets.get(i);
            if (target != besides && (target.isUsable() || target.isUsableSoon(now)) && !target.lacksService(now)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Chooses a provider if the balancers have not chosen one. Prefers providers with a weight above 0. Among these,
     * prefers a connected provider, then a provider that is being connected, then the provider of the previous attempt.
     *
     * @param excluded the provider of the previous attempt; may be null
     * @return null if no provider is connected or is being connected
     */
    @Nullable
    Target reachable(@Nullable Target excluded) {
        Target best = null;
        int highest = 0;
        int start = ThreadLocalRandom.current().nextInt(targets.size());
        for (int i = 0; i < targets.size(); i++) {
            Target target = targets.get((start + i) % targets.size());
            // isConnecting() must be called before isUsable(), because the connection may become usable between the two
            // calls.
            boolean soon = target.node().link().isConnecting();
            boolean isUsable = target.isUsable();
            int rank = target == excluded ? 1 : isUsable ? 3 : 2;
            rank += target.attributes().weight() > 0 ? 3 : 0;
            if ((isUsable || soon) && rank > highest) {
                highest = rank;
                best = target;
            }
        }
        return best;
    }

    /**
     * Returns any provider except the provider of the previous attempt. The group must have several providers.
     *
     * @param excluded the provider of the previous attempt; may be null
     */
    Target any(@Nullable Target excluded) {
        int start = ThreadLocalRandom.current().nextInt(targets.size());
        Target any = targets.get(start);
        return any == excluded ? targets.get((start + 1) % targets.size()) : any;
    }

    /** Records the end of an attempt at a provider of this group. */
    void ended(Candidate picked, Outcome outcome, long tookNanos) {
        first.ended(picked, outcome, tookNanos);
        if (others != null) {
            others.ended(picked, outcome, tookNanos);
        }
    }
}
