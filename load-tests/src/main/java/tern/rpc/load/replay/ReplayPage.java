package tern.rpc.load.replay;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Formats the results as one self-contained page with tables and SVG drawings. */
final class ReplayPage {

    private static final int WIDTH = 560;
    private static final int HEIGHT = 140;
    private static final double FROM_MILLIS = 1;
    private static final double TO_MILLIS = 20_000;

    private static final String STYLE = """
        body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #223; }
        table { border-collapse: collapse; margin: .5rem 0; font-size: 14px; }
        th, td { padding: .25rem .6rem; text-align: left; vertical-align: top; border-bottom: 1px solid #dde; }
        section { display: grid; grid-template-columns: 580px 1fr; gap: 0 1.5rem; border-top: 1px solid #99a; padding: 1rem 0; }
        h2, h3 { margin: .25rem 0; } h2 { grid-column: 1 / 3; } .bad { color: #a11; }
        .bar { fill: #4a78b5; } .late { fill: #c0533f; } text { font-size: 11px; fill: #556; } .axis { stroke: #bbc; }
        """;

    private final List<Result> results;
    private final Map<String, String> facts;
    private final List<String> verdicts;
    private final StringBuilder html = new StringBuilder();

    ReplayPage(List<Result> results, Map<String, String> facts, List<String> verdicts) {
        this.results = results;
        this.facts = facts;
        this.verdicts = verdicts;
    }

    String html() {
        add("<!doctype html>\n"
                + "<html lang=\"en\"><head><meta charset=\"utf-8\"><title>The five rounds, replayed</title>");
        add("<style>\n" + STYLE + "</style></head><body>\n<h1>The five rounds, replayed</h1>\n");
        add("<p>The highest open-loop rate of <code>ScheduleService.schedule</code> at which 99 of 100 calls end within"
                + " 100 ms and none fails, for each mistake and its fix.</p>\n");
        summary();
        add("<ul>\n");
        verdicts.forEach(verdict ->
                add("<li" + (Verdicts.isBad(verdict) ? " class=\"bad\"" : "") + ">" + escaped(verdict) + "</li>\n"));
        add("</ul>\n<table>\n");
        facts.forEach((name, value) -> add("<tr><td>" + escaped(name) + "</td><td>" + escaped(value) + "</td></tr>\n"));
        add("</table>\n");
        results.forEach(this::section);
        add("</body></html>\n");
        return html.toString();
    }

    private void summary() {
        add("<table>\n<tr>");
        ReplayTable.columns().forEach(column -> add("<th>" + escaped(column) + "</th>"));
        add("</tr>\n");
        for (Result result : results) {
            add("<tr>");
            ReplayTable.cells(result).forEach(cell -> add("<td>" + escaped(cell) + "</td>"));
            add("</tr>\n");
        }
        add("</table>\n");
    }

    private void section(Result result) {
        add("<section>\n<h2>Round " + escaped(result.name()) + ": "
                + escaped(result.round().setting(result.fixed())) + "</h2>\n<div>\n");
        if (result.knee() != null) {
            histogram("At the knee", result.knee());
        }
        histogram("Beyond it", result.beyond());
        add("</div>\n<div>\n<h3>What Tern said beyond the knee</h3>\n<ol>\n");
        for (Answer.Cause cause : result.answer().causes()) {
            add("<li><b>" + escaped(cause.title()) + "</b> " + escaped(cause.change()) + "</li>\n");
        }
        add("</ol>\n");
        share(result.answer());
        add("</div>\n</section>\n");
    }

    private void histogram(String title, Step step) {
        add(String.format(
                Locale.ROOT,
                "<h3>%s: %.0f calls/s, p50 %.1f ms, p99 %.1f ms, max %.1f ms, %d errors</h3>%n",
                title,
                step.rate(),
                step.p50Millis(),
                step.p99Millis(),
                step.maxMillis(),
                step.errors()));
        add("<svg width=\"" + (WIDTH + 20) + "\" height=\"" + (HEIGHT + 24) + "\" role=\"img\">\n");
        long most = step.buckets().stream().mapToLong(Step.Bucket::calls).max().orElse(1);
        for (Step.Bucket bucket : step.buckets()) {
            double left = x(bucket.upToMillis() / 1.25);
            double height = HEIGHT * (double) bucket.calls() / most;
            add(String.format(
                    Locale.ROOT,
                    "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>less than %.1f ms:"
                            + " %d calls</title></rect>%n",
                    bucket.upToMillis() <= Step.TARGET_MILLIS * 1.25 ? "bar" : "late",
                    left,
                    HEIGHT - height,
                    Math.max(1, x(bucket.upToMillis()) - left - 1),
                    height,
                    bucket.upToMillis(),
                    bucket.calls()));
        }
        for (double mark = FROM_MILLIS; mark < TO_MILLIS; mark *= 10) {
            add(String.format(
                    Locale.ROOT,
                    "<line class=\"axis\" x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"0\" y2=\"%2$d\"/><text x=\"%1$.1f\""
                            + " y=\"%3$d\">%4$.0f ms</text>%n",
                    x(mark),
                    HEIGHT,
                    HEIGHT + 16,
                    mark));
        }
        add("</svg>\n");
    }

    /** Returns the position of a latency on the logarithmic axis. */
    private static double x(double millis) {
        double within = Math.min(TO_MILLIS, Math.max(FROM_MILLIS, millis));
        return WIDTH * Math.log(within / FROM_MILLIS) / Math.log(TO_MILLIS / FROM_MILLIS);
    }

    private void share(Answer answer) {
        add("<h3>What a late call spends its time on</h3>\n<table>\n<tr><th>cause</th><th></th><th>ms</th></tr>\n");
        for (Answer.Cause cause : answer.causes()) {
            add(String.format(
                    Locale.ROOT,
                    "<tr><td>%s</td><td><svg width=\"120\" height=\"12\"><rect class=\"bar\" width=\"%.1f\""
                            + " height=\"12\"/></svg></td><td>%.0f of %.0f</td></tr>%n",
                    escaped(cause.title()),
                    cause.ofMs() <= 0 ? 0 : 120 * Math.min(1, cause.ms() / cause.ofMs()),
                    cause.ms(),
                    cause.ofMs()));
        }
        add("</table>\n<pre>" + escaped(answer.text()) + "</pre>\n");
    }

    private void add(String text) {
        html.append(text);
    }

    static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
