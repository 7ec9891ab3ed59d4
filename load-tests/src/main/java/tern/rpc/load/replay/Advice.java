package tern.rpc.load.replay;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;

/**
 * The provider's own report under load.
 *
 * @param findings findings, the likeliest cause first
 * @param waits waits of threads, the most frequent first
 * @param vitals processor, memory, network, disk and collections, one line each
 */
record Advice(List<Finding> findings, List<Wait> waits, List<String> vitals) {

    static final Advice NONE = new Advice(List.of(), List.of(), List.of());

    record Finding(String rule, String severity, String bottleneck, String evidence, String change) {

        String text() {
            return bottleneck + ": " + evidence + "; " + change;
        }
    }

    /** @param longestMillis negative if unknown */
    record Wait(String resource, int threads, double share, double longestMillis, String change) {}

    Advice {
        findings = List.copyOf(findings);
        waits = List.copyOf(waits);
        vitals = List.copyOf(vitals);
    }

    static Advice of(JsonNode advice, JsonNode waiting) {
        List<Finding> findings = new ArrayList<>();
        for (JsonNode finding : advice.path("findings")) {
            findings.add(new Finding(
                    text(finding, "rule"),
                    text(finding, "severity"),
                    text(finding, "bottleneck"),
                    text(finding, "evidence"),
                    text(finding, "change")));
        }
        List<Wait> waits = new ArrayList<>();
        for (JsonNode row : waiting.path("rows")) {
            waits.add(new Wait(
                    text(row, "resource"),
                    row.path("threads").asInt(),
                    row.path("share").asDouble(),
                    millis(row.path("longest")),
                    text(row, "change")));
        }
        List<String> vitals = new ArrayList<>();
        for (JsonNode line : waiting.path("vitals").path("lines")) {
            vitals.add(text(line, "name") + " " + text(line, "text"));
        }
        return new Advice(findings, waits, vitals);
    }

    /** Parses a duration of the provider's JSON: ISO 8601 or seconds. */
    private static double millis(JsonNode duration) {
        if (duration.isString()) {
            return Duration.parse(duration.asString()).toNanos() / 1e6;
        }
        return duration.isNumber() ? duration.asDouble() * 1e3 : -1;
    }

    private static String text(JsonNode node, String name) {
        return node.path(name).asString("");
    }

    String firstRule() {
        return findings.isEmpty() ? "" : findings.get(0).rule();
    }

    String first() {
        return findings.isEmpty() ? "nothing" : findings.get(0).text();
    }
}
