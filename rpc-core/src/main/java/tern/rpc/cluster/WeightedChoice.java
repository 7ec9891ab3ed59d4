package tern.rpc.cluster;

import java.util.List;
import tern.rpc.endpoint.Candidate;

/**
 * Draws random indexes in proportion to the weights of candidates, in constant time (alias method). Candidates with
 * weight 0 are never drawn unless all candidates have weight 0. Immutable.
 */
final class WeightedChoice {

    private final int size;
    // The alias method first draws a column. Each column has the index of one candidate, a threshold and an alias,
    // which is the index of another candidate. If a second random number is below the threshold, the column's own index
    // is chosen. Otherwise, the alias is chosen.
    private final int[] always; // the thresholds of the alias method's columns; empty if all weights are equal
    private final int[] other; // the alias of each column

    WeightedChoice(List<? extends Candidate> candidates) {
        size = candidates.size();
        double[] share = shares(candidates);
        if (isEven(share)) {
            always = new int[0];
            other = new int[0];
            return;
        }
        always = new int[size];
        other = new int[size];
        fill(share);
    }

    /** Returns the weights as multiples of their mean. */
    static double[] shares(List<? extends Candidate> candidates) {
        double[] share = new double[candidates.size()];
        double sum = 0;
        for (int i = 0; i < share.length; i++) {
            share[i] = candidates.get(i).attributes().weight();
            sum += share[i];
        }
        for (int i = 0; i < share.length; i++) {
            share[i] = sum == 0 ? 1 : share[i] * share.length / sum;
        }
        return share;
    }

    private static boolean isEven(double[] share) {
        for (double each : share) {
            if (each != share[0]) {
                return false;
            }
        }
        return true;
    }

    private void fill(double[] weights) {
        double[] share = weights.clone();
        int[] small = new int[size];
        int[] large = new int[size];
        int smalls = 0;
        int larges = 0;
        for (int i = 0; i < size; i++) {
            if (share[i] < 1) {
                small[smalls++] = i;
            } else {
                large[larges++] = i;
            }
        }
        while (smalls > 0 && larges > 0) {
            int poor = small[--smalls];
            int rich = large[larges - 1];
            set(poor, share[poor], rich);
            share[rich] -= 1 - share[poor];
            if (share[rich] < 1) {
                larges--;
                small[smalls++] = rich;
            }
        }
        while (larges > 0) {
            int rest = large[--larges];
            set(rest, 1, rest);
        }
        int heaviest = 0;
        for (int i = 1; i < size; i++) {
            heaviest = weights[i] > weights[heaviest] ? i : heaviest;
        }
        while (smalls > 0) { // Because of rounding errors, some columns of the alias table may not have an alias yet.
            int rest = small[--smalls];
            set(rest, weights[rest] > 0 ? 1 : 0, heaviest);
        }
    }

    private void set(int column, double part, int alias) {
        always[column] = (int) Math.round(Integer.MAX_VALUE * part);
        other[column] = alias;
    }

    /**
     * Draws an index.
     *
     * @param random 64 random bits
     */
    int draw(long random) {
        int column = (int) (((random >>> 32) * size) >>> 32);
        return always.length == 0 || ((int) random & Integer.MAX_VALUE) < always[column] ? column : other[column];
    }
}
