package tern.rpc.endpoint;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Picks the endpoints in turn, in proportion to their weights and spread as evenly as possible. */
public final class RoundRobinPicker implements EndpointPicker {

    /**
     * Weights with a larger sum are scaled down to about this sum. An endpoint with a weight above 0 keeps at least 1.
     */
    private static final int MAX_TURN = 10_000;

    private final int[] turn;
    private final AtomicInteger position = new AtomicInteger();

    public RoundRobinPicker(List<Instance> instances) {
        this.turn = smoothTurn(instances);
    }

    @Override
    public int next() {
        return turn.length == 1 ? turn[0] : turn[Math.floorMod(position.getAndIncrement(), turn.length)];
    }

    /**
     * Computes one turn of smooth weighted round robin: in each step all endpoints gain their weight, and the richest
     * is picked and pays the total.
     */
    private static int[] smoothTurn(List<Instance> instances) {
        int divisor = 0;
        for (Instance instance : instances) {
            divisor = greatestCommonDivisor(divisor, instance.attributes().weight());
        }
        long[] weights = new long[instances.size()];
        long total = 0;
        for (int i = 0; i < weights.length; i++) {
            weights[i] = divisor == 0 ? 1 : instances.get(i).attributes().weight() / divisor;
            total += weights[i];
        }
        if (total > MAX_TURN) {
            total = scale(weights, total);
        }
        List<Integer> order = new ArrayList<>();
        long[] credit = new long[weights.length];
        for (long step = 0; step < total; step++) {
            int richest = 0;
            for (int i = 0; i < weights.length; i++) {
                credit[i] += weights[i];
                richest = credit[i] > credit[richest] ? i : richest;
            }
            credit[richest] -= total;
            order.add(richest);
        }
        return order.stream().mapToInt(Integer::intValue).toArray();
    }

    /** @return the new sum */
    private static long scale(long[] weights, long total) {
        long scaled = 0;
        for (int i = 0; i < weights.length; i++) {
            if (weights[i] > 0) {
                weights[i] = Math.max(1, weights[i] * MAX_TURN / total);
                scaled += weights[i];
            }
        }
        return scaled;
    }

    private static int greatestCommonDivisor(int one, int other) {
        return other == 0 ? one : greatestCommonDivisor(other, one % other);
    }
}
