package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * Providers in the order of their ranks. A client connects to the providers with the smallest ranks. The rank is a
 * rendezvous hash of the client's number and the provider's address. Therefore, different clients choose different
 * providers, and adding or removing a provider changes a choice by at most one provider. Providers in the client's zone
 * are ranked first, and providers that get no new calls are ranked last. The order is kept between changes, so that a
 * change and a choice do not compute the hashes of the whole list. Not thread-safe.
 */
final class Ranking {

    /**
     * Hashes are shifted right by {@value} bits, so that {@link #LATER} or {@link #LAST} can be added without overflow.
     */
    private static final int SHIFT = 3;

    /**
     * A number that is added to the hashes of providers in other zones, so that they rank after the providers in the
     * client's zone.
     */
    private static final long LATER = 1L << 61;

    /** A number that is added to the hashes of providers that are draining or have weight 0, so that they rank last. */
    private static final long LAST = 1L << 62;

    /**
     * One in {@value} places of a subset is kept for providers in other zones. Without these places, a client with a
     * long list would have no connected provider while its zone fails.
     */
    private static final int PLACES_PER_OTHER_ZONE = 10;

    private static final int MIN_CAPACITY = 16;

    /** While many providers are sorted, the lowest bits of each rank are replaced by the provider's index. */
    private static final int INDEX_BITS = Integer.SIZE - Integer.numberOfLeadingZeros(SharedSources.MAX_INSTANCES);

    private static final long INDEX_MASK = (1L << INDEX_BITS) - 1;

    /** A provider that was passed over, with the time when it was passed over. */
    private record Skipped(long since, Instance instance) {}

    private final long client;
    private final String zone;
    // The providers, sorted by rank. Each rank is computed from the provider's address when it is needed. Storing the
    // ranks would take twice as much memory as the references to the providers.
    private Instance[] instances = new Instance[0];
    private int count;

    /**
     * @param client a number that identifies the client
     * @param zone the client's zone, whose providers are ranked first; may be empty
     */
    Ranking(long client, String zone) {
        this.client = client;
        this.zone = zone;
    }

    int count() {
        return count;
    }

    /** Replaces all providers. */
    void set(List<Instance> replacements) {
        count = replacements.size();
        instances = new Instance[count];
        long[] order = new long[count];
        for (int i = 0; i < count; i++) {
            order[i] = (rank(replacements.get(i)) & ~INDEX_MASK) | i;
        }
        Arrays.sort(order);
        for (int i = 0; i < count; i++) {
            Instance instance = replacements.get((int) (order[i] & INDEX_MASK));
            long upperBits = order[i] & ~INDEX_MASK;
            int place = i;
            // Ranks that differ only in their lowest bits may still be in the wrong order.
            while (place > 0
                    && (order[place - 1] & ~INDEX_MASK) == upperBits
                    && rank(instances[place - 1]) > rank(instance)) {
                instances[place] = instances[place - 1];
                place--;
            }
            instances[place] = instance;
        }
    }

    void add(Instance instance) {
        if (count == instances.length) {
            instances = Arrays.copyOf(instances, Math.max(MIN_CAPACITY, count + (count >> 3)));
        }
        long rank = rank(instance);
        int place = place(rank);
        while (place < count && rank(instances[place]) == rank) {
            place++;
        }
        System.arraycopy(instances, place, instances, place + 1, count - place);
        instances[place] = instance;
        count++;
    }

    void remove(Instance instance) {
        long rank = rank(instance);
        for (int place = place(rank); place < count && rank(instances[place]) == rank; place++) {
            if (instances[place].equals(instance)) {
                System.arraycopy(instances, place + 1, instances, place, count - place - 1);
                count--;
                return;
            }
        }
    }

    /** Returns the index of the first provider whose rank is not smaller than the given rank. */
    private int place(long rank) {
        int from = 0;
        int to = count;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (rank(instances[middle]) < rank) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from;
    }

    /**
     * Returns the providers with the smallest ranks. If there are zones, a tenth of the places is for the first
     * providers in other zones.
     *
     * @param size the maximum number of providers
     * @param passedOver the providers that could not be reached, with the time when each was passed over. They are
     *     chosen only if there are too few others. The provider that was passed over first is then chosen first, so
     *     that each of them is tried again in turn
     */
    List<Instance> first(int size, Map<Endpoint, Long> passedOver) {
        List<Instance> chosen = new ArrayList<>(Math.min(size, count));
        int far = zone.isEmpty() ? 0 : place(LATER);
        int last = place(LAST);
        int near = choose(chosen, 0, far, size - size / PLACES_PER_OTHER_ZONE, passedOver);
        choose(chosen, far, last, size, passedOver);
        choose(chosen, near, far, size, passedOver);
        choose(chosen, last, count, size, passedOver);
        if (chosen.size() < size && !passedOver.isEmpty()) {
            again(passedOver).limit(size - chosen.size()).forEach(chosen::add);
        }
        return chosen;
    }

    /**
     * Adds providers until {@code chosen} has {@code size} entries, and returns the index of the next provider in the
     * order of the ranks.
     */
    private int choose(List<Instance> chosen, int from, int to, int size, Map<Endpoint, Long> passedOver) {
        int place = from;
        for (; place < to && chosen.size() < size; place++) {
            Endpoint endpoint = instances[place].endpoint();
            // Equal entries of the list are neighbors in the order of the ranks. An entry that is listed twice counts
            // once.
            boolean isAgain = place > 0 && endpoint.equals(instances[place - 1].endpoint());
            if (!isAgain && (passedOver.isEmpty() || !passedOver.containsKey(endpoint))) {
                chosen.add(instances[place]);
            }
        }
        return place;
    }

    /** Returns the providers that were passed over, in the order in which they were passed over. */
    private Stream<Instance> again(Map<Endpoint, Long> passedOver) {
        List<Skipped> skipped = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Long since = passedOver.get(instances[i].endpoint());
            if (since != null) {
                skipped.add(new Skipped(since, instances[i]));
            }
        }
        skipped.sort(Comparator.comparingLong(Skipped::since));
        return skipped.stream().map(Skipped::instance);
    }

    private long rank(Instance instance) {
        long hash = Hashes.mix(client ^ Hashes.of(instance.endpoint())) >>> SHIFT;
        if (instance.attributes().weight() == 0 || instance.attributes().draining()) {
            return hash + LAST;
        }
        return zone.isEmpty() || instance.attributes().zone().equals(zone) ? hash : hash + LATER;
    }
}
