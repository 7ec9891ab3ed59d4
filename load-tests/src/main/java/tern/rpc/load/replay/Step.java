package tern.rpc.load.replay;

import java.util.ArrayList;
import java.util.List;
import tern.rpc.load.replay.KneeSearch.Outcome;
import tools.jackson.databind.JsonNode;

/**
 * One load at one rate.
 *
 * @param rate the calls per second
 * @param providerCores the number of processors that the provider used
 * @param machine the busy share of all processors, from 0 to 1; negative if unknown
 * @param buckets the histogram of the successful calls
 */
record Step(
        double rate,
        double qps,
        double p50Millis,
        double p99Millis,
        double maxMillis,
        long calls,
        long errors,
        String firstError,
        double providerCores,
        double machine,
        List<Bucket> buckets) {

    static final double TARGET_MILLIS = 100;

    /**
     * The maximum p99 of a near miss, as a multiple of the target. In a near miss, at most 0.1 % of the calls fail. A
     * near miss might be due to a pause of the machine.
     */
    private static final double NEAR = 10;

    private static final double FEW_ERRORS = 0.001;

    /**
     * A bar of the histogram.
     *
     * @param upToMillis the upper bound of the bar; the lower bound is the upper bound of the previous bar
     */
    record Bucket(double upToMillis, long calls) {}

    Step {
        buckets = List.copyOf(buckets);
    }

    static Step of(double rate, JsonNode report, double providerCores, double machine) {
        JsonNode total = report.path("total");
        List<Bucket> buckets = new ArrayList<>();
        for (JsonNode bucket : report.path("distribution")) {
            buckets.add(new Bucket(
                    bucket.path("upToMillis").asDouble(), bucket.path("calls").asLong()));
        }
        StringBuilder errors = new StringBuilder();
        report.path("errors").properties().stream()
                .findFirst()
                .ifPresent(error -> errors.append(error.getKey())
                        .append(": ")
                        .append(error.getValue().path("first").asString("")));
        return new Step(
                rate,
                total.path("qps").asDouble(),
                total.path("p50Millis").asDouble(),
                total.path("p99Millis").asDouble(),
                total.path("maxMillis").asDouble(),
                total.path("calls").asLong(),
                total.path("errors").asLong(),
                errors.toString(),
                providerCores,
                machine,
                buckets);
    }

    Outcome outcome() {
        if (calls > 0 && errors == 0 && p99Millis < TARGET_MILLIS) {
            return Outcome.HELD;
        }
        boolean near = errors <= FEW_ERRORS * calls && p99Millis < NEAR * TARGET_MILLIS;
        return calls > 0 && near ? Outcome.NEAR_MISS : Outcome.MISSED;
    }
}
