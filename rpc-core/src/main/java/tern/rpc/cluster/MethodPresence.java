package tern.rpc.cluster;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;

/**
 * Records which providers of one reference lack a method of the service, because they run an older or a newer release.
 * Calls to the method then go to other providers. The provider gets calls to the method again after 10 s. Each
 * additional answer that the method is missing extends this time by 10 s, up to 300 s. A new connection or changed
 * attributes reset the state, because the provider may then run another release. Thread-safe.
 */
final class MethodPresence {

    private static final long AVOIDED_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long MAX_AVOIDED_NANOS = TimeUnit.SECONDS.toNanos(300);

    /**
     * An answer that the method is missing.
     *
     * @param usableSince the start of the connection on which the answer arrived
     * @param attributes the provider's attributes at that time, without the weight and the draining state, which do not
     *     depend on the provider's release
     * @param answers the number of such answers
     * @param isAskedAgain whether calls are sent to the provider again at {@code untilNanos}; false if the failed call
     *     could not be sent to another provider, because each new attempt would then fail a call
     */
    private record Gap(long usableSince, Attributes attributes, int answers, boolean isAskedAgain, long untilNanos) {

        boolean isOf(Target target) {
            return usableSince == target.node().link().usableSinceNanos()
                    && attributes.equals(release(target.attributes()));
        }

        boolean isOver(long now) {
            return isAskedAgain && now - untilNanos >= 0;
        }
    }

    /**
     * The providers that lack one method. Immutable, except for the computed groups.
     *
     * @param gaps the last answers of these providers
     * @param avoided the providers that get no calls to the method at the moment
     * @param groups for each group of providers, the providers that may have the method
     */
    private record Lacking(Map<Target, Gap> gaps, Set<Target> avoided, Map<Group, Group> groups) {

        static Lacking of(Map<Target, Gap> gaps, long now) {
            Set<Target> avoided = new HashSet<>();
            gaps.forEach((target, gap) -> {
                if (!gap.isOver(now)) {
                    avoided.add(target);
                }
            });
            return new Lacking(Map.copyOf(gaps), Set.copyOf(avoided), new ConcurrentHashMap<>());
        }
    }

    // The answers of the providers by method. Usually empty, because all providers have all methods. The map is
    // replaced under this object's lock.
    private volatile Map<String, Lacking> byMethod = Map.of();
    // the routes that the last call to reviewAll() received; guarded by this object's lock
    private @Nullable Routes reviewed;

    private static Attributes release(Attributes all) {
        return all.withWeight(0).withDraining(false);
    }

    /** Returns whether the provider lacks the method, according to its last answers. */
    boolean isMissing(Target target, String method) {
        Lacking lacking = byMethod.get(method);
        return lacking != null && lacking.avoided.contains(target);
    }

    /**
     * Returns the providers of the group that may have the method. Returns the group itself if all providers have the
     * method, or if all lack it.
     */
    Group having(String method, Group group, long now) {
        Map<String, Lacking> current = byMethod;
        if (current.isEmpty()) {
            return group;
        }
        Lacking lacking = current.get(method);
        return lacking == null || lacking.avoided.isEmpty()
                ? group
                : lacking.groups.computeIfAbsent(group, all -> all.without(lacking.avoided, now));
    }

    /**
     * Records an answer that the method is missing.
     *
     * @param isRepeatable whether the failed call can be sent to another provider
     * @return the time for which calls to the method avoid the provider, or 0 if they already avoid it
     */
    synchronized long missing(Target target, String method, boolean isRepeatable, long now) {
        Lacking before = byMethod.get(method);
        Map<Target, Gap> gaps = before == null ? new HashMap<>() : new HashMap<>(before.gaps);
        Gap recorded = gaps.get(target);
        Gap last = recorded != null && recorded.isOf(target) ? recorded : null;
        if (last != null && before != null && before.avoided.contains(target)) {
            return 0;
        }
        int answers = last == null ? 1 : last.answers + 1;
        long avoided = Math.min(MAX_AVOIDED_NANOS, answers * AVOIDED_NANOS);
        gaps.put(
                target,
                new Gap(
                        target.node().link().usableSinceNanos(),
                        release(target.attributes()),
                        answers,
                        isRepeatable,
                        now + avoided));
        put(method, Lacking.of(gaps, now));
        return avoided;
    }

    /** Records that the provider has answered a call to the method. */
    void found(Target target, String method, long now) {
        Map<String, Lacking> current = byMethod;
        if (!current.isEmpty()) {
            Lacking lacking = current.get(method);
            if (lacking != null && lacking.gaps.containsKey(target)) {
                remove(target, method, now);
            }
        }
    }

    private synchronized void remove(Target target, String method, long now) {
        Lacking lacking = byMethod.get(method);
        if (lacking != null) {
            Map<Target, Gap> gaps = new HashMap<>(lacking.gaps);
            gaps.remove(target);
            put(method, Lacking.of(gaps, now));
        }
    }

    private void put(String method, Lacking lacking) {
        Map<String, Lacking> changed = new HashMap<>(byMethod);
        if (lacking.gaps.isEmpty()) {
            changed.remove(method);
        } else {
            changed.put(method, lacking);
        }
        byMethod = Map.copyOf(changed);
    }

    /**
     * Forgets the answers of providers that have been connected again, whose attributes have changed, or that are no
     * longer used. Measures the groups of providers that may have a method.
     *
     * @return whether some providers lack a method
     */
    boolean review(Routes routes, long now) {
        if (byMethod.isEmpty()) {
            return false;
        }
        reviewAll(routes, now);
        return true;
    }

    private synchronized void reviewAll(Routes routes, long now) {
        boolean isNewList = routes != reviewed;
        reviewed = routes;
        Set<Target> used = isNewList ? Set.copyOf(routes.all()) : Set.of();
        byMethod.forEach((method, lacking) -> {
            Map<Target, Gap> gaps = new HashMap<>(lacking.gaps);
            gaps.entrySet()
                    .removeIf(each ->
                            !each.getValue().isOf(each.getKey()) || (isNewList && !used.contains(each.getKey())));
            Lacking changed = Lacking.of(gaps, now);
            // After a new list, the groups of the previous list are forgotten too, so that they do not occupy memory.
            if (isNewList || gaps.isEmpty() || !changed.avoided.equals(lacking.avoided)) {
                put(method, changed);
            } else {
                lacking.groups.values().forEach(group -> group.measure(now));
            }
        });
    }
}
