package tern.rpc.cluster;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * Decides which members of a subset are replaced by other listed providers, because they could not be
 * reached. Such a member is passed over: the subset contains the next provider of the {@link Ranking} instead.
 * Connected members stay.
 *
 * <p>The members that the subset would have without replacements are its regular members. A regular member that is
 * passed over keeps its node, which continues to connect with its own pauses. When this member has been connected for
 * 30 s, it returns, and the subset's last provider in the order of the hashes is removed. Other providers that were
 * passed over are tried again in turn when no further provider is left. Used under the lock of its {@link Cluster}.
 */
final class Replacements {

    /**
     * If a member of the subset has had no lasting connection for this time, another provider replaces it. The replaced
     * member is not tried again before the same time has passed. If it would belong to the subset again, it returns
     * after it has been connected for the same time, so that providers do not alternate.
     */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * Replaces {@link #PATIENCE_NANOS} for lost and silent connections while no provider that can take a call is
     * connected. A lost connection is usually reopened sooner, for example after a short fault of the network.
     */
    private static final long SHORT_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** The time until the next review while a provider of a long list is not connected. */
    static final long SOON_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The value for the time until the next review if no review is needed before a provider's state or the list of
     * providers changes.
     */
    static final long NEVER = Long.MAX_VALUE;

    /** The time until the next review while no provider can take the calls that are made. */
    private static final long CUT_OFF_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /**
     * The maximum number of members of the subset that one review replaces while another provider can take the calls.
     */
    private static final int MAX_PER_REVIEW = 10;

    /** A provider that would belong to the subset if it had not been replaced, because it could not be reached. */
    private record Absent(Node node, Instance instance) {}

    private final Nodes nodes;
    private final Nodes.User user;
    private final long startNanos;
    // The time when each provider was passed over, in nanoseconds since the start. All values are different.
    private final Map<Endpoint, Long> passedOver = new HashMap<>();
    // The providers that would belong to the subset if they had not been replaced.
    private final Map<Endpoint, Absent> absent = new HashMap<>();
    private long lastPassed; // the largest value in passedOver, which belongs to the provider that was replaced last
    private volatile long untilReviewNanos = SOON_NANOS;

    /** @param user the reference to whose subset the replaced providers belong */
    Replacements(Nodes nodes, Nodes.User user, long now) {
        this.nodes = nodes;
        this.user = user;
        this.startNanos = now;
    }

    /** Returns the providers that could not be reached, for {@link Ranking#first}. */
    Map<Endpoint, Long> passedOver() {
        return passedOver;
    }

    /**
     * Forgets the providers that are no longer listed. A provider that is listed again may have been restarted.
     *
     * @param members the providers that the client connects to before the new list takes effect
     */
    void listed(List<Instance> before, List<Instance> listed, List<Target> members) {
        if (passedOver.isEmpty()) {
            return;
        }
        forgetConnected(members);
        ListChange change = ListChange.between(before, listed);
        Set<Endpoint> removed = new HashSet<>();
        change.removed().forEach(instance -> removed.add(instance.endpoint()));
        change.added().forEach(instance -> removed.remove(instance.endpoint()));
        removed.forEach(passedOver::remove);
    }

    /** Removes connected providers from the providers that could not be reached. Otherwise, they would be replaced. */
    private void forgetConnected(List<Target> members) {
        members.stream()
                .filter(target -> target.node().link().isUsable())
                .forEach(target -> passedOver.remove(target.endpoint()));
    }

    /**
     * Keeps the connections to providers that have been replaced but would otherwise belong to the subset. Releases the
     * kept connections to all other providers.
     *
     * @param regular supplies the members that the subset would have without replacements
     * @param members the members that the subset currently has
     */
    void chosen(Supplier<ProviderChoice.Connected> regular, Set<Endpoint> members) {
        if (passedOver.isEmpty() && absent.isEmpty()) {
            return;
        }
        Set<Endpoint> needed = new HashSet<>();
        for (Instance instance : regular.get().instances()) {
            Endpoint endpoint = instance.endpoint();
            if (passedOver.containsKey(endpoint) && !members.contains(endpoint)) {
                needed.add(endpoint);
                Absent known = absent.get(endpoint);
                absent.put(endpoint, new Absent(known == null ? nodes.share(endpoint, user) : known.node(), instance));
            }
        }
        // The nodes are released last. If an exception is thrown earlier, they are released after the next choice.
        absent.values().removeIf(each -> {
            boolean isOver = !needed.contains(each.node().endpoint());
            if (isOver) {
                release(each.node());
            }
            return isOver;
        });
    }

    /** Releases the node of a provider that no longer belongs to the subset. */
    void release(Node node) {
        if (passedOver.containsKey(node.endpoint()) && !node.link().isUsable()) {
            nodes.drop(node, user);
        } else {
            nodes.giveBack(node, user);
        }
    }

    /**
     * Decides which members of the subset are replaced, and which replaced members return.
     *
     * @param list the list that the members were chosen from
     * @param hasOthers whether the list is longer than the subset
     * @param isInUse whether calls have been made lately. While no provider can take these calls, a member is replaced
     *     as soon as its first attempt to connect has failed
     * @return whether the subset must be chosen again
     */
    boolean review(Routes routes, LastGood list, boolean hasOthers, boolean isInUse, long now) {
        forgetConnected(routes.all());
        boolean isSteady = !hasOthers
                || (absent.isEmpty()
                        && routes.all().stream()
                                .allMatch(target -> target.node().link().isUsable()));
        untilReviewNanos = isSteady && list.held().isEmpty() ? NEVER : SOON_NANOS;
        if (isSteady) {
            // The subset stays the same, because all regular members are connected or no other provider is listed.
            passedOver.clear();
            return false;
        }
        absent.values().forEach(each -> {
            each.node().look(now);
            askUnheard(each.node());
        });
        routes.all().forEach(target -> askUnheard(target.node()));
        Set<Group> cutOff = isInUse ? cutOff(routes) : Set.of();
        untilReviewNanos = cutOff.isEmpty() ? SOON_NANOS : CUT_OFF_NANOS;
        Set<Endpoint> leaving = leaving(routes, cutOff, now);
        int before = passedOver.size();
        for (Absent each : absent.values()) {
            boolean isNeeded = routes.isInAny(each.instance(), cutOff);
            if (each.node().link().isUsableFor(isNeeded ? 0 : PATIENCE_NANOS, now)) {
                passedOver.remove(each.node().endpoint());
            }
        }
        boolean isAnyBack = passedOver.size() < before;
        leaving.forEach(endpoint -> passedOver.put(endpoint, nextTime(now)));
        return isAnyBack || !leaving.isEmpty();
    }

    /** Returns the groups in which no provider is connected. */
    private static Set<Group> cutOff(Routes routes) {
        Set<Group> cutOff = Collections.newSetFromMap(new IdentityHashMap<>());
        routes.forEachGroup(group -> {
            if (group.targets().stream()
                    .noneMatch(target -> target.node().link().isUsable())) {
                cutOff.add(group);
            }
        });
        return cutOff;
    }

    private Set<Endpoint> leaving(Routes routes, Set<Group> cutOff, long now) {
        Set<Endpoint> leaving = new LinkedHashSet<>();
        routes.forEachGroup(group -> {
            boolean isCutOff = cutOff.contains(group);
            group.targets().stream()
                    .filter(target -> isReplaceable(target, isCutOff, now))
                    .limit(isCutOff ? Long.MAX_VALUE : MAX_PER_REVIEW)
                    .forEach(target -> leaving.add(target.endpoint()));
        });
        return leaving;
    }

    /** Returns the time since the start. Each result is larger than the previous result. */
    private long nextTime(long now) {
        lastPassed = Math.max(now - startNanos, lastPassed + 1);
        return lastPassed;
    }

    private boolean isReplaceable(Target target, boolean isCutOff, long now) {
        Long since = passedOver.get(target.endpoint());
        if (target.isHeld() || (since != null && now - startNanos - since < PATIENCE_NANOS)) {
            return false;
        }
        Node node = target.node();
        return node.link().isUnstableFor(PATIENCE_NANOS, now) || (isCutOff && isProbablyDead(node, now));
    }

    /**
     * Returns whether the provider is probably dead. During the first attempt to connect, the provider does not count
     * as dead, because the attempt may take until its timeout.
     */
    private static boolean isProbablyDead(Node node, long now) {
        return node.link().hasFailedFirst()
                || ((node.link().wasConnected() || node.link().isUnheard())
                        && node.link().isOutOfReachFor(SHORT_PATIENCE_NANOS, now));
    }

    /**
     * Sends a ping to a provider that has accepted the connection but has sent nothing. Otherwise, a running provider
     * that gets no calls could not be distinguished from a frozen one.
     */
    private static void askUnheard(Node node) {
        if (node.link().isUnheard()) {
            node.link().connection().probe();
        }
    }

    /** Returns the time until the next review, in nanoseconds, or {@link #NEVER}. Any thread may call this. */
    long untilReviewNanos() {
        return untilReviewNanos;
    }

    /** Returns the number of listed providers that are not used because they could not be reached. */
    int countWithout(List<Target> members) {
        return (int) (passedOver.size()
                - members.stream()
                        .filter(target -> passedOver.containsKey(target.endpoint()))
                        .count());
    }

    void close() {
        absent.values().forEach(each -> nodes.giveBack(each.node(), user));
        absent.clear();
    }
}
