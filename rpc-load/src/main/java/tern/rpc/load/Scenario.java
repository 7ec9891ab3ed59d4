package tern.rpc.load;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A mix of calls, each with a weight. Immutable; any thread may call {@link #pick}. */
public final class Scenario {

    /**
     * One kind of call. An exception counts as an error of the call, so an implementation must throw one if the answer
     * is wrong.
     */
    @FunctionalInterface
    public interface Call {
        /** @param number the index of the call in the whole run, from 0 */
        void run(long number) throws Exception;
    }

    /**
     * @param weight the weight of this kind of call; its share of the calls is its weight divided by the sum of all
     *     weights
     */
    public record Step(String name, int weight, Call call) {}

    private final List<Step> steps;
    private final int totalWeight;

    private Scenario(List<Step> steps) {
        this.steps = steps;
        this.totalWeight = steps.stream().mapToInt(Step::weight).sum();
    }

    public static Builder builder() {
        return new Builder();
    }

    public List<Step> steps() {
        return steps;
    }

    /**
     * Returns the index of the kind of call that is made as the call with this number. The choice is random according
     * to the weights, but the same in every run.
     */
    int pick(long number) {
        int ticket = new SplittableRandom(number).nextInt(totalWeight);
        int step = 0;
        while (ticket >= steps.get(step).weight()) {
            ticket -= steps.get(step).weight();
            step++;
        }
        return step;
    }

    public static final class Builder {

        private final List<Step> steps = new ArrayList<>();

        private Builder() {}

        public Builder step(String name, int weight, Call call) {
            if (weight < 1) {
                throw new IllegalArgumentException("weight of " + name + " is " + weight + "; expected 1 or more");
            }
            steps.add(new Step(name, weight, call));
            return this;
        }

        public Scenario build() {
            if (steps.isEmpty()) {
                throw new IllegalArgumentException("a scenario has at least one step");
            }
            return new Scenario(List.copyOf(steps));
        }
    }
}
