package tern.rpc.load.peer;

/**
 * A chart of the CPU time per call in one scenario. Each compared framework has one bar, which stacks the values of
 * client and server.
 */
final class CpuBars {

    private static final int WIDTH = 640;
    private static final int LABELS = 130;
    private static final int VALUES = 150;
    private static final int ROW = 26;
    private static final int BAR = 16;
    private static final int GAP = 2;

    private final Results results;

    CpuBars(Results results) {
        this.results = results;
    }

    String svg(Scene scene) {
        int rows = results.peers().size();
        Svg svg = new Svg(WIDTH, rows * ROW + 6, "CPU per call in " + scene.name());
        double most = results.peers().stream()
                .map(peer -> results.of(peer, scene))
                .filter(Outcome::isMeasured)
                .mapToDouble(Outcome::sumMicros)
                .max()
                .orElse(1);
        double first = results.of(results.peers().get(0), scene).sumMicros();
        for (int row = 0; row < rows; row++) {
            String peer = results.peers().get(row);
            row(svg, peer, results.of(peer, scene), row * ROW, most, first);
        }
        return svg.xml();
    }

    private static void row(Svg svg, String peer, Outcome outcome, double top, double most, double first) {
        double middle = top + ROW / 2.0 + 4;
        svg.text(LABELS - 10, middle, "end", peer);
        if (!outcome.isMeasured()) {
            svg.text(LABELS, middle, "start", "failed");
            return;
        }
        double scale = (WIDTH - LABELS - VALUES) / most;
        double client = outcome.clientMicros() * scale;
        double server = outcome.serverMicros() * scale;
        double y = top + (ROW - BAR) / 2.0;
        svg.bar("client", LABELS, y, client, BAR, peer + ", client: " + micros(outcome.clientMicros()));
        svg.bar("server", LABELS + client + GAP, y, server, BAR, peer + ", server: " + micros(outcome.serverMicros()));
        String ratio = Double.isFinite(first) ? " · × " + ResultTable.number(outcome.sumMicros() / first, 2) : "";
        svg.text(LABELS + client + server + GAP + 8, middle, "start", micros(outcome.sumMicros()) + ratio);
    }

    private static String micros(double value) {
        return ResultTable.number(value, value < 100 ? 1 : 0) + " µs";
    }
}
