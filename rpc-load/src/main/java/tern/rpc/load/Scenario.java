package tern.rpc.load;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** A mix of calls, each with its share. Immutable; {@link #pick} may be called by any thread. */
public final class Scenario {

    /** One call. What it throws counts as its error; returning a wrong answer has to be thrown too. */
    @FunctionalInterface
    public interface Call {
        /** @param number of the call, counted from 0 over the whole run */
        void run(long number) throws Exception;
    }

    /** @param weight its share in relation to the other steps */
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

    /** The index of the step for this call: random by weight, and the same one in every run. */
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
