package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.endpoint.Instance;

/**
 * Keeps the last good list of providers. Registries and DNS sometimes report an empty or much shorter list even though
 * the providers are fine. If a list is empty, the missing providers stay in use ("held") while they answer. If a list
 * has lost more than half of its entries, the missing providers are also held while they answer, but only until 30 s
 * have passed and a listed provider is connected. They are held even if the list has gained as many entries as it has
 * lost, because the client is not yet connected to the new providers. A registry can also lose the entries of its
 * providers one after another, for example while their sessions expire. Therefore, each list is compared with the
 * longest list of the previous 30 s.
 *
 * <p>If the list is empty, held providers keep their weight. Held providers also keep their weight for up to 30 s after
 * the list has entries again, until at least half of the providers are listed. Without this rule, the first provider
 * that registers again would get all calls. In all other cases, held providers are tried last. Immutable.
 *
 * @param snapshot the last snapshot of the source
 * @param listed the providers that the source lists, or that it listed before it became unreachable
 * @param held the providers that stay in use although the source no longer lists them
 * @param heldSinceNanos the start of the current period in which providers are held
 * @param state the reason why providers are held
 * @param longest the list before the current list became shorter
 */
record LastGood(
        EndpointSnapshot snapshot,
        List<Instance> listed,
        List<Instance> held,
        long heldSinceNanos,
        Holding state,
        Longest longest) {

    /** Why providers stay in use although the source no longer lists them. */
    enum Holding {
        /**
         * The list lost most of its entries. Also the initial state: no provider has been held (kept in use although
         * the source no longer lists it).
         */
        LOST_MOST,
        /** The source reports an empty list after a list with entries. */
        EMPTIED,
        /** The list was empty before, and fewer than half of the providers are listed again. */
        FILLING
    }

    /**
     * The last list before the lists of a source became shorter.
     *
     * @param list the longer list; empty if no later list was shorter
     * @param sinceNanos the time of the first shorter list
     */
    record Longest(List<Instance> list, long sinceNanos) {

        /** Returns the record to keep after the list has changed from {@code listed} to {@code next}. */
        private Longest after(List<Instance> listed, List<Instance> next, long now) {
            Longest current = list.isEmpty() || now - sinceNanos >= PARTIAL_NANOS ? new Longest(listed, now) : this;
            return next.size() < current.list.size() ? current : new Longest(List.of(), now);
        }
    }

    static final long PARTIAL_NANOS = TimeUnit.SECONDS.toNanos(30);

    static LastGood before(EndpointSnapshot unknown, long now) {
        return new LastGood(unknown, List.of(), List.of(), now, Holding.LOST_MOST, new Longest(List.of(), now));
    }

    /**
     * Returns the state after the source has reported a new snapshot.
     *
     * @param answers returns whether a provider is connected and answers
     */
    LastGood after(EndpointSnapshot next, Predicate<Endpoint> answers, long now) {
        ListChange change = ListChange.between(listed, next.instances());
        List<Instance> instances = change.isEmpty() ? listed : next.instances();
        if (next.state() == State.UNKNOWN) {
            return new LastGood(next, listed, held, heldSinceNanos, state, longest);
        }
        Longest before = longest.after(listed, instances, now);
        if (instances.isEmpty()) {
            List<Instance> kept = answering(known(before), answers);
            boolean wasEmpty = emptied();
            return new LastGood(
                    next,
                    List.of(),
                    kept,
                    wasEmpty ? heldSinceNanos : now,
                    wasEmpty || !all().isEmpty() ? Holding.EMPTIED : Holding.LOST_MOST,
                    before);
        }
        boolean hasLostMost = hasLostMost(instances, change);
        if (hasLostMost || 2 * instances.size() < before.list().size()) {
            List<Instance> kept = answering(missing(known(before), instances), answers);
            boolean isSameLoss = (state == Holding.FILLING && isTimeLeft(now))
                    || (state == Holding.LOST_MOST && !hasLostMost && !held.isEmpty());
            if (isSameLoss) {
                return new LastGood(next, instances, kept, heldSinceNanos, state, before);
            }
            return new LastGood(next, instances, kept, now, emptied() ? Holding.FILLING : Holding.LOST_MOST, before);
        }
        if (held.isEmpty()) {
            return new LastGood(next, instances, List.of(), now, Holding.LOST_MOST, before);
        }
        long since = emptied() ? now : heldSinceNanos;
        return new LastGood(next, instances, missing(held, instances), since, Holding.LOST_MOST, before);
    }

    /** Returns whether the source reports an empty list after a list with entries. */
    boolean emptied() {
        return state == Holding.EMPTIED;
    }

    /**
     * Returns whether held providers (which the source no longer lists) get calls only while no listed provider is
     * available.
     */
    boolean areHeldTriedLast() {
        return state == Holding.LOST_MOST;
    }

    /**
     * Returns whether fewer than half of the providers in use are in the next list. Unlisted providers that are tried
     * last do not count. Otherwise, each additional list change would keep these providers in use for longer.
     */
    private boolean hasLostMost(List<Instance> next, ListChange change) {
        List<Instance> counted = areHeldTriedLast() ? listed : all();
        int used = counted.size();
        if (2 * next.size() < used) {
            return true;
        }
        if (2 * (next.size() - change.added().size()) >= used) {
            // This condition is cheap to check, and usually true, because few entries of a long list change at once.
            return false;
        }
        return 2 * missing(counted, next).size() > used;
    }

    /**
     * Returns this list without the held providers that no longer answer. A held provider is a provider in use that the
     * source no longer lists. Held providers are removed after {@link #PARTIAL_NANOS} even if they answer, unless no
     * listed provider can be used, for example because the list belongs to another cluster.
     *
     * @param isAnyListedUsable whether a provider that the source lists is connected
     */
    LastGood later(Predicate<Endpoint> answers, boolean isAnyListedUsable, long now) {
        if (held.isEmpty()) {
            return this;
        }
        List<Instance> left = isTimeLeft(now) || !isAnyListedUsable ? answering(held, answers) : List.of();
        return left.size() == held.size() ? this : new LastGood(snapshot, listed, left, heldSinceNanos, state, longest);
    }

    /**
     * Returns the reason why unlisted providers stay in use, or an empty string if there are none.
     */
    String whyHeld() {
        if (held.isEmpty()) {
            return "";
        }
        return switch (state) {
            case EMPTIED -> "the list is empty";
            case FILLING -> "the list was empty and has fewer than half of its entries again";
            case LOST_MOST -> "the list lost more than half of its entries";
        };
    }

    private boolean isTimeLeft(long now) {
        return now - heldSinceNanos < PARTIAL_NANOS;
    }

    private List<Instance> all() {
        if (held.isEmpty()) {
            return listed;
        }
        List<Instance> all = new ArrayList<>(listed);
        all.addAll(held);
        return all;
    }

    /** Returns the providers in use and the providers of the longest earlier list. */
    private List<Instance> known(Longest before) {
        List<Instance> used = all();
        List<Instance> others = missing(before.list(), used);
        if (others.isEmpty()) {
            return used;
        }
        List<Instance> known = new ArrayList<>(used);
        known.addAll(others);
        return known;
    }

    private static List<Instance> answering(List<Instance> instances, Predicate<Endpoint> answers) {
        return instances.stream()
                .filter(instance -> answers.test(instance.endpoint()))
                .toList();
    }

    private static List<Instance> missing(List<Instance> instances, List<Instance> present) {
        Set<Endpoint> there = new HashSet<>();
        present.forEach(instance -> there.add(instance.endpoint()));
        return instances.stream()
                .filter(instance -> !there.contains(instance.endpoint()))
                .toList();
    }
}
