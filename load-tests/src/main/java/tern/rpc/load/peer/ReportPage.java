package tern.rpc.load.peer;

import java.util.List;
import java.util.Map;

/** Formats the comparison as one self-contained page of well-formed XML. */
final class ReportPage {

    private static final String OURS = "tern-";

    private static final String STYLE = """
        :root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6675; --line: #d9dee5; --page: #fbfbfa; --card: #fff;
          --c0: #2a78d6; --c1: #1b9f77; --c2: #d08700; --c3: #d6453d; --c4: #4a3aa7; --c5: #c2528b; --c6: #008300;
          --c7: #8a5a2b; --good: #13714f; --bad: #b3261e; --client: #4b5c7e; --server: #9aa9c4; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e4e7ec; --soft: #9aa5b4; --line: #323a46; --page: #14181e;
          --card: #1b2129; --c0: #5598e7; --c1: #2fb98c; --c2: #e0a32e; --c3: #ee7a72; --c4: #9d8ff0; --c5: #e585b5;
          --c6: #56b456; --c7: #c39a6b; --good: #57c79c; --bad: #f0867f; --client: #a9b8d6; --server: #5d6d8e; } }
        body { font: 15px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page); margin: 0 auto;
          max-width: 84rem; padding: 2rem 1.25rem 4rem; }
        h1 { font-size: 1.6rem; margin: 0 0 .5rem; } h2 { font-size: 1.2rem; margin: 0 0 .25rem; }
        h3 { font-size: .95rem; margin: 1rem 0 .25rem; } p, ul { max-width: 48rem; } .soft { color: var(--soft); }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.25rem;
          margin: 1.25rem 0; }
        .charts { display: flex; flex-wrap: wrap; gap: 0 2rem; } .charts > div { flex: 1 1 28rem; min-width: 0; }
        .wide { overflow-x: auto; } svg { max-width: 100%; height: auto; display: block; }
        table { border-collapse: collapse; font-size: 12.5px; font-variant-numeric: tabular-nums; }
        th, td { padding: .2rem .4rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
        th { font-weight: 600; color: var(--soft); } th:first-child, td:first-child { text-align: left; }
        td.reason { text-align: left; white-space: normal; color: var(--bad); } .facts td { text-align: left; }
        td.good { color: var(--good); } td.bad { color: var(--bad); }
        text { font: 12px system-ui, sans-serif; fill: var(--soft); } .grid { stroke: var(--line); }
        .axis { stroke: var(--soft); stroke-width: .5; } .client { --k: var(--client); fill: var(--k); }
          .server { --k: var(--server); fill: var(--k); }
        .curve { fill: none; stroke: var(--k); stroke-width: 2; stroke-linejoin: round; } .fill { fill: var(--k); }
        .dashed { stroke-dasharray: 6 4; } .key { display: inline-block; margin-right: 1rem; white-space: nowrap; }
        .key i { display: inline-block; width: 14px; height: 0; border-top: 3px solid var(--k); margin-right: .35rem;
          vertical-align: middle; } .key i.dashed { border-top-style: dashed; }
        .c0 { --k: var(--c0); } .c1 { --k: var(--c1); } .c2 { --k: var(--c2); } .c3 { --k: var(--c3); }
        .c4 { --k: var(--c4); } .c5 { --k: var(--c5); } .c6 { --k: var(--c6); } .c7 { --k: var(--c7); }
        """;

    private final Results results;
    private final Map<String, String> facts;
    private final StringBuilder html = new StringBuilder();

    /** @param facts the facts about the machine and the run, in display order */
    ReportPage(Results results, Map<String, String> facts) {
        this.results = results;
        this.facts = facts;
    }

    String html() {
        html.setLength(0);
        add("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>");
        add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/><title>Tern beside"
                + " others</title>");
        add("<style>\n" + STYLE + "</style></head><body>\n<h1>Tern beside others</h1>\n");
        add("<p class=\"soft\">Same services, same load, client and server in separate processes, one peer at a"
                + " time.</p>\n");
        environment();
        reading();
        results.peers().stream().filter(peer -> peer.startsWith(OURS)).forEach(this::ratios);
        results.scenes().forEach(this::scene);
        add("</body></html>\n");
        return html.toString();
    }

    private void environment() {
        add("<section><h2>Measured on</h2><table class=\"facts\">\n");
        facts.forEach((name, value) -> add("<tr><td>" + escaped(name) + "</td><td>" + escaped(value) + "</td></tr>\n"));
        add("</table></section>\n");
    }

    private void reading() {
        add("""
            <section><h2>How to read it</h2><ul>
            <li><b>The main result is the CPU time per call of client and server together.</b> Other users of the machine
            affect it less than throughput and latency. Compare ratios before absolute numbers, and check the spread
            first.</li>
            <li>Every figure is the median of its rounds. In each round, each framework gets new processes, which warm up
            with eight callers in every scenario. The result of one more run is discarded. In every second round, the
            frameworks run in reverse order.</li>
            <li>A caller waits for each answer before its next call. With many callers, the latency is therefore mostly
            the wait for the processors: the number of callers divided by the throughput. A slow framework gets less
            load.</li>
            <li>Latencies are accurate to one percent. Curves and histograms contain all calls of all rounds, including
            failed calls.</li>
            <li>Bytes are the bytes that threads allocated on the heap. Writes are write system calls per call: flushes
            and wake-ups of selectors. Fewer than one means that calls share them. Switches are the context switches of
            the threads that were alive at the end. “n/a” means that the system does not report the value. c is the
            client, and s is the server.</li>
            </ul></section>
            """);
    }

    private void ratios(String ours) {
        List<String> others =
                results.peers().stream().filter(peer -> !peer.equals(ours)).toList();
        if (others.isEmpty()) {
            return;
        }
        add("<section><h2>" + escaped(ours) + " against each peer</h2>");
        add("<p class=\"soft\">Its CPU per call divided by theirs: 0.50 is half of it.</p><div"
                + " class=\"wide\"><table>\n");
        add("<tr><th>scene</th>");
        others.forEach(peer -> add("<th>" + escaped(peer) + "</th>"));
        add("</tr>\n");
        for (Scene scene : results.scenes()) {
            add("<tr><td>" + escaped(scene.name()) + "</td>");
            others.forEach(peer -> ratio(results.of(ours, scene).ratioTo(results.of(peer, scene))));
            add("</tr>\n");
        }
        add("</table></div></section>\n");
    }

    private void ratio(double ratio) {
        String style = !Double.isFinite(ratio) ? "soft" : ratio <= 1 ? "good" : "bad";
        add("<td class=\"" + style + "\">" + ResultTable.number(ratio, 2) + "</td>");
    }

    private void scene(Scene scene) {
        add("<section><h2>" + escaped(scene.name()) + "</h2><p class=\"soft\">" + escaped(scene.description()) + "; "
                + scene.callers() + (scene.streams() ? " streams" : " callers")
                + (scene.pairs() > 1 ? " in each of " + scene.pairs() + " clients" : "")
                + "</p><div class=\"charts\">\n<div><h3>CPU per call</h3><p>");
        key("client", "client");
        key("server", "server");
        add("</p>" + new CpuBars(results).svg(scene));
        LatencyCharts latency = new LatencyCharts(results);
        add("<h3>Latency, how many calls</h3>" + latency.histograms(scene)
                + "</div>\n<div><h3>Latency, percentiles</h3><p>");
        for (int i = 0; i < results.peers().size(); i++) {
            key(LatencyCharts.style(i), results.peers().get(i));
        }
        add("</p>" + latency.curves(scene) + "</div></div>\n");
        table(scene);
        add("</section>\n");
    }

    private void key(String style, String name) {
        add("<span class=\"key\"><i class=\"" + style + "\"></i>" + escaped(name) + "</span>");
    }

    private void table(Scene scene) {
        add("<div class=\"wide\"><table>\n<tr><th>peer</th>");
        ResultTable.COLUMNS.forEach(column -> add("<th>" + escaped(column) + "</th>"));
        add("</tr>\n");
        Outcome first = results.of(results.peers().get(0), scene);
        for (String peer : results.peers()) {
            Outcome outcome = results.of(peer, scene);
            if (outcome.isMeasured()) {
                add("<tr><td>" + escaped(peer) + "</td>");
                ResultTable.cells(outcome, first).forEach(cell -> add("<td>" + escaped(cell) + "</td>"));
                add("</tr>\n");
            }
            if (!outcome.failure().isEmpty()) {
                add("<tr><td>" + escaped(peer) + "</td><td class=\"reason\" colspan=\"" + ResultTable.COLUMNS.size()
                        + "\">failed: " + escaped(outcome.failure()) + "</td></tr>\n");
            }
        }
        add("</table></div>\n");
    }

    private static String escaped(String text) {
        return Svg.escaped(text);
    }

    private void add(String text) {
        html.append(text);
    }
}
