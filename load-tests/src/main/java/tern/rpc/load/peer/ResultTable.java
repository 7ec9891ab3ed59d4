package tern.rpc.load.peer;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formats results as text and as table cells. The terminal output and the page use the same format. */
final class ResultTable {

    /** The titles of the columns that follow the columns of the scenario and the framework. */
    static final List<String> COLUMNS = List.of(
            "client us",
            "server us",
            "sum us",
            "spread",
            "ratio",
            "client B",
            "server B",
            "calls/s",
            "mean ms",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "max ms",
            "writes c",
            "writes s",
            "switch c",
            "switch s",
            "errors");

    private ResultTable() {}

    static String text(Results results) {
        StringBuilder text = new StringBuilder(line("scene", "peer", COLUMNS));
        for (Scene scene : results.scenes()) {
            Outcome first = results.of(results.peers().get(0), scene);
            for (String peer : results.peers()) {
                Outcome outcome = results.of(peer, scene);
                if (outcome.isMeasured()) {
                    text.append(line(scene.name(), peer, cells(outcome, first)));
                }
                if (!outcome.failure().isEmpty()) {
                    text.append(String.format(
                            Locale.ROOT, "%-10s %-15s failed: %s%n", scene.name(), peer, outcome.failure()));
                }
            }
        }
        return text.toString();
    }

    /**
     * Returns the cells of a row.
     *
     * @param first the result of the first framework, with which the row's ratio is computed
     */
    static List<String> cells(Outcome outcome, Outcome first) {
        return List.of(
                number(outcome.clientMicros(), 1),
                number(outcome.serverMicros(), 1),
                number(outcome.sumMicros(), 1),
                number(outcome.leastSumMicros(), 0) + "-" + number(outcome.mostSumMicros(), 0),
                number(outcome.ratioTo(first), 2),
                number(outcome.clientBytes(), 0),
                number(outcome.serverBytes(), 0),
                number(outcome.perSecond(), 0),
                number(outcome.meanMillis(), 2),
                number(outcome.millisAt(50), 2),
                number(outcome.millisAt(99), 2),
                number(outcome.millisAt(99.9), 2),
                number(outcome.maxMillis(), 1),
                number(outcome.clientWrites(), 3),
                number(outcome.serverWrites(), 3),
                number(outcome.clientSwitches(), 2),
                number(outcome.serverSwitches(), 2),
                String.valueOf(outcome.errors()));
    }

    static String number(double value, int digits) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%." + digits + "f", value) : "n/a";
    }

    private static String line(String scene, String peer, List<String> cells) {
        return String.format(Locale.ROOT, "%-10s %-15s ", scene, peer)
                + cells.stream()
                        .map(cell -> String.format(Locale.ROOT, "%9s", cell))
                        .collect(Collectors.joining(" "))
                + System.lineSeparator();
    }
}
