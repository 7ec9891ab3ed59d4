package tern.rpc.cluster;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.endpoint.Instance;

/**
 * Chooses the providers that a client connects to if there are many providers. These are the providers with the
 * smallest rendezvous hashes of client and address. Adding or removing a provider changes the subset by at most one
 * provider.
 */
final class Subset {

    /** Added to the hashes of providers with weight 0, so that they are chosen after all other providers. */
    private static final long LAST = 1L << 62;

    private final long client;
    private final int size;

    /**
     * @param client a number that identifies the client
     * @param size the maximum number of providers, or 0 for all
     */
    Subset(long client, int size) {
        this.client = client;
        this.size = size;
    }

    /**
     * Returns the chosen providers in the order of the given list. If the list has no more providers than the subset
     * size, returns the list itself.
     */
    List<Instance> of(List<Instance> instances) {
        if (size == 0 || instances.size() <= size) {
            return instances;
        }
        long[] smallest = new long[size]; // A max-heap of the smallest hashes found so far.
        int filled = 0;
        for (Instance instance : instances) {
            long hash = hash(instance);
            if (filled < size) {
                smallest[filled++] = hash;
                if (filled == size) {
                    heapify(smallest);
                }
            } else if (hash < smallest[0]) {
                smallest[0] = hash;
                siftDown(smallest, 0);
            }
        }
        long limit = smallest[0];
        List<Instance> chosen = new ArrayList<>(size);
        for (Instance instance : instances) {
            if (hash(instance) <= limit && chosen.size() < size) {
                chosen.add(instance);
            }
        }
        return chosen;
    }

    private long hash(Instance instance) {
        long hash = Hashes.mix(client ^ Hashes.of(instance.endpoint())) >> 2;
        return instance.attributes().weight() > 0 ? hash : hash + LAST;
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
