package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;

/**
 * If there are many providers, chooses the providers that a client connects to. These are the providers with the
 * smallest rendezvous hashes, computed from the client's number and the provider's address. Providers in the client's
 * zone are chosen first, and providers that could not be connected are chosen last. Adding or removing a provider
 * changes the subset by at most one provider.
 */
final class Subset {

    /**
     * Hashes are shifted right by this number of bits, so that {@link #LATER} or {@link #LAST} can be added without
     * overflow, and the sum is less than {@link #PASSED_OVER}.
     */
    private static final int SHIFT = 3;

    /**
     * Added to the hashes of providers in other zones, so that they are chosen after the providers in the client's
     * zone.
     */
    private static final long LATER = 1L << 61;

    /** Added to the hashes of providers with weight 0, so that they are chosen after all other providers. */
    private static final long LAST = 1L << 62;

    /**
     * Added to the times of providers that could not be connected, so that they are chosen after all providers that may
     * be reachable.
     */
    private static final long PASSED_OVER = LAST + LATER;

    private final long client;
    private final int size;
    private final String zone;

    /**
     * @param client a number that identifies the client
     * @param size the maximum number of providers, or 0 for all
     * @param zone the client's zone, whose providers are chosen first; may be empty
     */
    Subset(long client, int size, String zone) {
        this.client = client;
        this.size = size;
        this.zone = zone;
    }

    Subset(long client, int size) {
        this(client, size, "");
    }

    /**
     * Returns the chosen providers in the order of the given list. If the list has no more providers than the subset
     * size, returns the list itself.
     *
     * @param passedOver the providers that could not be connected, with the time at which each was passed over, from 0.
     *     They are chosen only if there are too few others. The provider that was passed over first is then chosen
     *     first, so that each of them is tried again in turn
     */
    List<Instance> of(List<Instance> instances, Map<Endpoint, Long> passedOver) {
        if (size == 0 || instances.size() <= size) {
            return instances;
        }
        long[] smallest = new long[size]; // A max-heap: its root is the largest of the smallest ranks found so far.
        int filled = 0;
        for (Instance instance : instances) {
            long rank = rank(instance, passedOver, filled < size ? Long.MAX_VALUE : smallest[0]);
            if (filled < size) {
                smallest[filled++] = rank;
                if (filled == size) {
                    heapify(smallest);
                }
            } else if (rank < smallest[0]) {
                smallest[0] = rank;
                siftDown(smallest, 0);
            }
        }
        long limit = smallest[0];
        List<Instance> chosen = new ArrayList<>(size);
        for (Instance instance : instances) {
            if (rank(instance, passedOver, limit) <= limit && chosen.size() < size) {
                chosen.add(instance);
            }
        }
        return chosen;
    }

    /**
     * Returns the rank of a provider. Providers with small ranks are chosen. The provider is searched in
     * {@code passedOver} only if its hash is not larger than the limit, because its rank is at least its hash.
     */
    private long rank(Instance instance, Map<Endpoint, Long> passedOver, long limit) {
        long hash = hash(instance);
        Long since = hash > limit || passedOver.isEmpty() ? null : passedOver.get(instance.endpoint());
        return since == null ? hash : PASSED_OVER + since;
    }

    private long hash(Instance instance) {
        long hash = Hashes.mix(client ^ Hashes.of(instance.endpoint())) >>> SHIFT;
        if (instance.attributes().weight() == 0) {
            return hash + LAST;
        }
        return zone.isEmpty() || instance.attributes().zone().equals(zone) ? hash : hash + LATER;
    }

    private static void heapify(long[] heap) {
        for (int i = heap.length / 2 - 1; i >= 0; i--) {
            siftDown(heap, i);
        }
    }

    private static void siftDown(long[] heap, int from) {
        int i = from;
        for (int child = 2 * i + 1; child < heap.length; child = 2 * i + 1) {
            if (child + 1 < heap.length && heap[child + 1] > heap[child]) {
                child++;
            }
            if (heap[i] >= heap[child]) {
                return;
            }
            long moved = heap[i];
            heap[i] = heap[child];
            heap[child] = moved;
            i = child;
        }
    }
}
