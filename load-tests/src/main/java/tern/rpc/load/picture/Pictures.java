package tern.rpc.load.picture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Draws the documentation's pictures as SVG, using data from the documentation pages and the sources. The
 * {@code load-tests/pictures} script runs it. The class is a single file and uses only the JDK, so that
 * {@code java Pictures.java ROOT} runs it without a build.
 */
public final class Pictures {

    private static final int WIDTH = 960;
    private static final int LINE = 26;
    private static final String OURS = "#0b6e99";
    private static final String OTHERS = "#a9b4bd";
    private static final String BAD = "#c65d3b";

    private final Path root;

    private Pictures(Path root) {
        this.root = root;
    }

    public static void main(String[] arguments) throws IOException {
        Path root = Path.of(arguments.length == 0 ? "." : arguments[0]);
        Path folder = Files.createDirectories(root.resolve("docs/pictures"));
        for (Map.Entry<String, String> picture : draw(root).entrySet()) {
            Files.writeString(folder.resolve(picture.getKey()), picture.getValue());
            System.out.println("docs/pictures/" + picture.getKey());
        }
    }

    /** Returns the pictures by file name. The same pages and sources always yield identical pictures. */
    static Map<String, String> draw(Path root) throws IOException {
        Pictures pictures = new Pictures(root);
        Map<String, String> all = new LinkedHashMap<>();
        all.put("call.svg", pictures.call());
        all.put("diagnosis.svg", pictures.diagnosis());
        all.put("rounds.svg", pictures.rounds());
        all.put("peers.svg", pictures.peers());
        all.put("node-slow.svg", pictures.badNode("10 times slower"));
        all.put("node-silent.svg", pictures.badNode("accepts and never answers"));
        all.put("node-failing.svg", pictures.badNode("fails at once"));
        return all;
    }

    /** A bar with its label, value, colour and end text. */
    private record Bar(String label, double value, String text, String color) {}

    // The following members draw the CPU time per call, compared with other frameworks.

    private static final Map<String, String> FRAMEWORKS = Map.ofEntries(
            Map.entry("tern-dubbo", "Tern, dubbo protocol"),
            Map.entry("tern-tri", "Tern, Triple"),
            Map.entry("tern-proto", "Tern, gRPC"),
            Map.entry("tern-http", "Tern, JSON over HTTP/1.1"),
            Map.entry("dubbo-hessian2", "Dubbo 3.3, hessian2"),
            Map.entry("dubbo-fastjson2", "Dubbo 3.3, fastjson2"),
            Map.entry("dubbo-tri", "Dubbo 3.3, Triple"),
            Map.entry("dubbo-proto", "Dubbo 3.3, gRPC"),
            Map.entry("grpc-java", "grpc-java"),
            Map.entry("armeria", "Armeria, gRPC"),
            Map.entry("http-json", "Jetty with Gson"),
            Map.entry("rmi", "Java RMI"),
            Map.entry("floor", "bare Netty, no values"));

    private String peers() throws IOException {
        List<Bar> bars = new ArrayList<>();
        for (List<String> row : table("docs/figures/calls.md", "| CPU µs per call, both sides |")) {
            String peer = row.get(0).replace("`", "");
            double micros = number(row.get(1));
            String color = peer.startsWith("tern") ? OURS : OTHERS;
            bars.add(new Bar(FRAMEWORKS.getOrDefault(peer, peer), micros, row.get(1) + " µs", color));
        }
        bars.sort((one, other) -> Double.compare(one.value(), other.value()));
        return bars(
                "Processor time of a small call, client and server together",
                "Scene existUser with 200 callers, from docs/figures/calls.md. Shorter is better.",
                bars,
                220);
    }

    // The following methods draw the replay's five rounds (docs/replay.md).

    private String rounds() throws IOException {
        List<Bar> bars = new ArrayList<>();
        for (List<String> row : table("docs/replay.md", "| round | settings |")) {
            boolean fixed = row.get(0).contains("fixed") || row.get(0).equals("5");
            String label = row.get(0).contains("fixed")
                    ? "    after the fix"
                    : "Round " + row.get(0) + ": " + firstCause(row.get(8));
            bars.add(new Bar(label, number(row.get(2)), row.get(2) + " calls/s", fixed ? OURS : BAD));
        }
        return bars(
                "Five rounds: the cause that Tern named first, and the rate before and after the fix",
                "Highest rate at which 99 of 100 calls end within 100 ms, from docs/replay.md. Longer is better.",
                bars,
                530);
    }

    /** Returns the part of a diagnosed cause's text before the colon. The evidence for the cause follows the colon. */
    private static String firstCause(String finding) {
        int colon = finding.indexOf(": ");
        return colon < 0 ? finding : finding.substring(0, colon);
    }

    // Picture: a diagnosis

    private static final Pattern ACCOUNT = Pattern.compile(" +a call +(.+) ms");
    private static final Pattern PART = Pattern.compile("(.+) ([0-9.]+)");

    /** Draws the parts of a late call's time, from the first example on the diagnosis page. */
    private String diagnosis() throws IOException {
        String head = "";
        for (String line : lines("docs/diagnosis.md")) {
            head = head.isEmpty() && line.matches("1 .+ of .+ ms")
                    ? line.substring(2).replaceAll(" {2,}", ", ")
                    : head;
            Matcher account = ACCOUNT.matcher(line);
            if (account.matches()) {
                List<Bar> bars = new ArrayList<>();
                for (String text : account.group(1).split(", ")) {
                    Matcher part = PART.matcher(text);
                    if (part.matches()) {
                        String color = bars.isEmpty() ? BAD : OURS;
                        bars.add(new Bar(part.group(1), number(part.group(2)), part.group(2) + " ms", color));
                    }
                }
                return bars(
                        "A diagnosis: " + head,
                        "The time of a late call by part, from the example in docs/diagnosis.md.",
                        bars,
                        200);
            }
        }
        throw new IOException("docs/diagnosis.md has no line 'a call'");
    }

    // The following members draw the failed calls while one of ten nodes is faulty.

    private static final List<String> LINES =
            List.of(OURS, "#7fb4cc", "#333333", BAD, "#e0a458", "#8c6bb1", "#5b8c5a", "#a9b4bd");

    /** The number of seconds before and during the fault, as in the columns of the page's tables. */
    private static final int BEFORE = 5;

    private static final int FAULT = 20;

    /**
     * Draws the share of failed calls in each second, with one panel for each number of clients and one line for each
     * policy.
     */
    private String badNode(String fault) throws IOException {
        Map<String, Map<String, List<Double>>> panels = new LinkedHashMap<>();
        for (List<String> row : table("docs/figures/cluster.md", "| failed % in second |")) {
            if (row.get(0).equals(fault)) {
                List<Double> shares = row.stream().skip(3).map(Pictures::number).toList();
                panels.computeIfAbsent(row.get(1), clients -> new LinkedHashMap<>())
                        .put(row.get(2), shares);
            }
        }
        double highest = panels.values().stream()
                .flatMap(lines -> lines.values().stream())
                .flatMap(List::stream)
                .mapToDouble(Double::doubleValue)
                .max()
                .orElseThrow(() -> new IllegalStateException("docs/figures/cluster.md has no row: " + fault));
        StringBuilder svg = head(
                400,
                "One node of ten: " + fault,
                "Failed calls in each second, in percent, from docs/figures/cluster.md. The fault lasts from second 0 to"
                        + " 20 (shaded).");
        int panel = (WIDTH - 40) / panels.size();
        int left = 50;
        for (Map.Entry<String, Map<String, List<Double>>> entry : panels.entrySet()) {
            curves(svg, left, panel - 50, entry.getKey() + " clients", entry.getValue(), Math.max(1, highest));
            left += panel;
        }
        int at = 0;
        for (String policy : panels.values().iterator().next().keySet()) {
            int x = 50 + at % 3 * 300;
            int y = 346 + at / 3 * 22;
            rectangle(svg, x, y, 18, 6, LINES.get(at++), 2);
            text(svg, x + 24, y + 8, 12, "#333", "start", policy);
        }
        return svg.append("</svg>\n").toString();
    }

    private static void curves(
            StringBuilder svg, int left, int width, String title, Map<String, List<Double>> lines, double highest) {
        int top = 100;
        int height = 200;
        double second = width / (double) lines.values().iterator().next().size();
        rectangle(svg, (int) (left + BEFORE * second), top, (int) (FAULT * second), height, "#f8f1ea", 0);
        text(svg, left, top - 12, 13, "#333", "start", title);
        for (int share = 0; share <= 2; share++) {
            int y = top + height - share * height / 2;
            svg.append("<path d=\"M%d %dH%d\" stroke=\"#ddd\"/>\n".formatted(left, y, left + width));
            text(svg, left - 6, y + 4, 11, "#777", "end", "%.0f %%".formatted(share * highest / 2));
        }
        for (int mark : List.of(0, FAULT / 2, FAULT)) {
            text(svg, (int) (left + (BEFORE + mark) * second), top + height + 18, 11, "#777", "middle", mark + " s");
        }
        List<List<Double>> all = List.copyOf(lines.values());
        // The line of the first policy is drawn last, so that no other line covers it.
        for (int at = all.size() - 1; at >= 0; at--) {
            List<Double> shares = all.get(at);
            StringBuilder path = new StringBuilder();
            for (int i = 0; i < shares.size(); i++) {
                double y = top + height * (1 - shares.get(i) / highest);
                path.append(i == 0 ? 'M' : 'L').append("%.0f %.0f".formatted(left + (i + 0.5) * second, y));
            }
            svg.append(
                    "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n".formatted(path, LINES.get(at)));
        }
    }

    // The following members draw the path of a call.

    /** A step of a call: its class, its description and its thread. */
    private record Step(String type, String words, int lane) {}

    private static final List<String> LANES = List.of("caller's thread", "event loop", "event loop", "worker thread");

    private static final List<Step> WAY = List.of(
            new Step("ServiceProxy", "a method of the interface", 0),
            new Step("EndpointInvoker", "chooses an address", 0),
            new Step("ConnectionPool", "chooses a connection, encodes", 0),
            new Step("WriteQueue", "many frames, one flush", 1),
            new Step("ProtocolDetector", "which protocol is it?", 2),
            new Step("Dispatcher", "limits: admit or refuse", 2),
            new Step("WorkerPool", "queue, one wake-up", 3),
            new Step("ServedCall", "deadline, identity, decode", 3),
            new Step("MethodHandler", "filters, then your bean", 3),
            new Step("WriteQueue", "the answer", 2),
            new Step("PendingCalls", "finds the waiting call", 1),
            new Step("PendingCall", "the caller decodes", 0));

    private String call() throws IOException {
        int lane = WIDTH / LANES.size();
        int box = lane - 26;
        int step = 70;
        int height = 128 + WAY.size() * step;
        StringBuilder svg = head(
                height,
                "The way of a call",
                "Each box is a class with its module. A call changes threads only where it changes columns.");
        for (int i = 0; i < LANES.size(); i++) {
            String side = i < 2 ? "client" : "server";
            rectangle(svg, i * lane + 6, 74, lane - 12, height - 88, i < 2 ? "#f1f6f9" : "#f8f4ee", 8);
            text(svg, i * lane + lane / 2, 94, 13, "#333", "middle", side + ": " + LANES.get(i));
        }
        for (int i = 0; i < WAY.size(); i++) {
            Step here = WAY.get(i);
            int x = here.lane() * lane + 13;
            int y = 106 + i * step;
            rectangle(svg, x, y, box, 56, "#ffffff\" stroke=\"" + OURS, 5);
            text(svg, x + box / 2, y + 17, 13, OURS, "middle", here.type());
            text(svg, x + box / 2, y + 33, 12, "#333", "middle", here.words());
            text(svg, x + box / 2, y + 48, 11, "#777", "middle", module(here.type()));
            if (i + 1 < WAY.size()) {
                arrow(svg, x + box / 2, y + 56, WAY.get(i + 1).lane() * lane + 13 + box / 2, y + step);
            }
        }
        return svg.append("</svg>\n").toString();
    }

    private static void arrow(StringBuilder svg, int x, int y, int toX, int toY) {
        int middle = (y + toY) / 2;
        String path = x == toX ? "M%d %dV%d".formatted(x, y, toY) : "M%d %dV%dH%dV%d".formatted(x, y, middle, toX, toY);
        svg.append("<path d=\"%s\" fill=\"none\" stroke=\"#555\" stroke-width=\"1.5\" marker-end=\"url(#end)\"/>\n"
                .formatted(path));
    }

    /**
     * Returns the module whose sources contain the class. Throws an exception if no module contains the class, so that
     * the picture stays consistent with the code.
     */
    private String module(String type) throws IOException {
        try (Stream<Path> modules = Files.list(root)) {
            List<Path> libraries = modules.filter(folder -> Files.isDirectory(folder.resolve("src/main/java")))
                    .sorted()
                    .toList();
            for (Path library : libraries) {
                try (Stream<Path> files = Files.walk(library.resolve("src/main/java"))) {
                    if (files.anyMatch(file -> file.endsWith(type + ".java"))) {
                        return library.getFileName().toString();
                    }
                }
            }
        }
        throw new IllegalStateException("no module has a class " + type);
    }

    // The following methods read the documentation's pages.

    private List<String> lines(String page) throws IOException {
        return Files.readAllLines(root.resolve(page));
    }

    /** Returns the cells of the rows below the header row of a table. The header row begins with {@code head}. */
    private List<List<String>> table(String page, String head) throws IOException {
        List<List<String>> rows = new ArrayList<>();
        boolean inside = false;
        for (String line : lines(page)) {
            if (!inside) {
                inside = line.startsWith(head);
            } else if (!line.startsWith("|")) {
                break;
            } else if (!line.startsWith("| ---")) {
                rows.add(Stream.of(line.substring(1).split("\\|"))
                        .map(String::strip)
                        .toList());
            }
        }
        if (rows.isEmpty()) {
            throw new IllegalStateException(page + " has no table that begins with " + head);
        }
        return rows;
    }

    private static double number(String text) {
        return Double.parseDouble(text.replace(",", ""));
    }

    // --- Drawing
    // --------------------------------------------------------------------------------------------------------

    private static String bars(String title, String note, List<Bar> bars, int labels) {
        int room = WIDTH - labels - 30;
        double longest = bars.stream().mapToDouble(Bar::value).max().orElse(1);
        int longestText =
                bars.stream().mapToInt(bar -> bar.text().length()).max().orElse(0);
        double scale = (room - longestText * 6.6) / longest;
        StringBuilder svg = head(90 + bars.size() * LINE, title, note);
        int y = 78;
        for (Bar bar : bars) {
            int width = (int) Math.max(2, Math.round(bar.value() * scale));
            text(svg, labels, y + 15, 13, "#222", "end", bar.label());
            rectangle(svg, labels + 8, y + 2, width, LINE - 8, bar.color(), 2);
            text(svg, labels + 14 + width, y + 15, 12, "#333", "start", bar.text());
            y += LINE;
        }
        return svg.append("</svg>\n").toString();
    }

    private static StringBuilder head(int height, String title, String note) {
        StringBuilder svg = new StringBuilder("""
            <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img" \
            font-family="system-ui, sans-serif">
            <title>%3$s</title>
            <defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
            <path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>
            """.formatted(WIDTH, height, escaped(title)));
        rectangle(svg, 0, 0, WIDTH, height, "#ffffff", 8);
        text(svg, 20, 32, 17, "#111", "start", title);
        text(svg, 20, 54, 12, "#555", "start", note);
        return svg;
    }

    private static void rectangle(StringBuilder svg, int x, int y, int width, int height, String fill, int round) {
        svg.append("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"/>\n"
                .formatted(x, y, width, height, round, fill));
    }

    private static void text(StringBuilder svg, int x, int y, int size, String color, String anchor, String words) {
        svg.append("<text x=\"%d\" y=\"%d\" font-size=\"%d\" fill=\"%s\" text-anchor=\"%s\">%s</text>\n"
                .formatted(x, y, size, color, anchor, escaped(words)));
    }

    private static String escaped(String words) {
        return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
