package tern.rpc.load.replay;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formats the results as rows of text. */
final class ReplayTable {

    private static final List<String> COLUMNS = List.of(
            "round",
            "settings",
            "QPS at the knee",
            "p50 ms",
            "p99 ms",
            "max ms",
            "CPU",
            "cause found by hand originally",
            "first cause in Tern's report");

    private ReplayTable() {}

    static String markdown(List<Result> results) {
        StringBuilder text = new StringBuilder();
        line(text, COLUMNS);
        line(text, COLUMNS.stream().map(column -> "---").toList());
        for (Result result : results) {
            line(
                    text,
                    cells(result).stream().map(cell -> cell.replace("|", "\\|")).toList());
        }
        return text.toString();
    }

    private static void line(StringBuilder text, List<String> cells) {
        text.append("| ").append(String.join(" | ", cells)).append(" |\n");
    }

    /** Returns the results as comma-separated values (RFC 4180), one line for each load. */
    static String csv(List<Result> results) {
        StringBuilder text = new StringBuilder(
                "round,fixed,settings,load,rate,qps,p50_ms,p99_ms,max_ms,errors,provider_processors,machine_busy,"
                        + "by_hand,tern_first\n");
        for (Result result : results) {
            result.steps().forEach(step -> csvLine(text, result, step, step.equals(result.knee()) ? "knee" : "search"));
            csvLine(text, result, result.beyond(), "beyond");
        }
        return text.toString();
    }

    private static void csvLine(StringBuilder text, Result result, Step step, String load) {
        List<String> cells = List.of(
                String.valueOf(result.round().number()),
                String.valueOf(result.fixed()),
                result.round().setting(result.fixed()),
                load,
                number(step.rate()),
                number(step.qps()),
                number(step.p50Millis()),
                number(step.p99Millis()),
                number(step.maxMillis()),
                String.valueOf(step.errors()),
                String.format(Locale.ROOT, "%.2f", step.providerCores()),
                String.format(Locale.ROOT, "%.2f", step.machine()),
                load.equals("beyond") ? result.round().byHand() : "",
                load.equals("beyond") ? result.answer().first() : "");
        text.append(cells.stream().map(ReplayTable::quoted).collect(Collectors.joining(",")))
                .append('\n');
    }

    private static String quoted(String cell) {
        return cell.matches("[^\",\r\n]*") ? cell : '"' + cell.replace("\"", "\"\"") + '"';
    }

    static List<String> columns() {
        return COLUMNS;
    }

    static List<String> cells(Result result) {
        Step step = result.shown();
        boolean found = result.knee() != null;
        return List.of(
                result.name(),
                result.round().setting(result.fixed()),
                found ? number(result.qps()) : "none held; at " + number(step.rate()),
                number(step.p50Millis()),
                number(step.p99Millis()),
                number(step.maxMillis()),
                String.format(Locale.ROOT, "provider %.1f", step.providerCores())
                        + (step.machine() < 0
                                ? ""
                                : String.format(Locale.ROOT, ", machine %.0f %%", step.machine() * 100)),
                result.fixed() ? "" : result.round().byHand(),
                result.answer().first());
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, value < 100 && value != Math.rint(value) ? "%.1f" : "%.0f", value);
    }
}
