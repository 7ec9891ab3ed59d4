package tern.rpc.load.peer;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import tern.rpc.load.peer.Flatness.Sample;
import tern.rpc.load.peer.Flatness.Verdict;
import tern.rpc.load.replay.Facts;

/**
 * Makes calls of all kinds, one after another, for an hour by default. Every minute, client and server run the garbage
 * collector, and this program prints the resources that they hold. Exits with 1 if a resource grows or a call fails.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.peer.Stability [--peer=tern-dubbo] [--hours=1]
 * [--callers=20]</pre>
 */
public final class Stability {

    /** The minimum number of samples. A regression line through fewer samples would be meaningless. */
    private static final int MIN_SAMPLES = 10;

    private static final Duration MAX_STEP = Duration.ofMinutes(1);
    private static final double MILLIS_PER_HOUR = 3.6e6;
    private static final double MILLIS_PER_MINUTE = 6e4;
    private static final double MEGABYTE = 1e6;
    private static final List<String> SIDES = List.of("server", "client");

    private final String peer;
    private final double hours;
    private final int callers;

    private Stability(String... options) {
        String named = "tern-dubbo";
        double asked = 1;
        int threads = 20;
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.substring(0, option.length() - value.length())) {
                case "--peer=" -> named = value;
                case "--hours=" -> asked = number(option, value, 1_000);
                case "--callers=" -> threads = (int) number(option, value, 1_000);
                default ->
                    throw new IllegalArgumentException(
                            "option '" + option + "' is not known; expected --peer=NAME, --hours=H or --callers=N");
            }
        }
        if (!Peer.NAMES.contains(named)) {
            throw new IllegalArgumentException("--peer is '" + named + "'; expected one of " + Peer.NAMES);
        }
        this.peer = named;
        this.hours = asked;
        this.callers = threads;
    }

    private static double number(String option, String text, double most) {
        double value = text.matches("[0-9]{1,4}([.][0-9]{1,4})?") ? Double.parseDouble(text) : 0;
        if (value <= 0 || value > most) {
            throw new IllegalArgumentException(option + ": expected a number above 0, at most " + (long) most);
        }
        return value;
    }

    public static void main(String[] options) throws IOException {
        Stability stability;
        try {
            stability = new Stability(options);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println("flags of each process: " + String.join(" ", Side.FLAGS));
        boolean flat = stability.run();
        System.out.println("load average at the end: " + Facts.loadAverage());
        System.exit(flat ? 0 : 1);
    }

    private boolean run() throws IOException {
        double total = hours * MILLIS_PER_HOUR;
        long step = Math.min(MAX_STEP.toMillis(), (long) (total / MIN_SAMPLES));
        List<List<Sample>> samples = List.of(new ArrayList<>(), new ArrayList<>());
        long calls = 0;
        long errors = 0;
        String firstError = "";
        System.out.printf(
                Locale.ROOT, "%s, %d callers, %.2f hours, a look every %.0f s%n", peer, callers, hours, step / 1e3);
        System.out.println("  min  side       calls/s   p99 ms   max ms   heap MB    old MB direct MB pooled MB threads"
                + "  files errors");
        try (Trial trial = new Trial(peer, 1)) {
            long began = System.nanoTime();
            while ((System.nanoTime() - began) / 1e6 < total) {
                Measurement ran = trial.run(Scene.STABILITY, callers, step);
                calls += ran.calls();
                errors += ran.errors();
                firstError = firstError.isEmpty() ? ran.firstError() : firstError;
                double minutes = (System.nanoTime() - began) / 1e6 / MILLIS_PER_MINUTE;
                List<Resources> held = trial.resources();
                for (int side = 0; side < held.size(); side++) {
                    samples.get(side).add(new Sample(minutes, held.get(side)));
                    print(minutes, SIDES.get(side), ran, held.get(side));
                }
            }
        }
        return isFlat(samples, calls, errors, firstError);
    }

    private static void print(double minutes, String side, Measurement ran, Resources held) {
        System.out.printf(
                Locale.ROOT,
                "%5.1f  %-6s  %10.0f %8.2f %8.1f %9.2f %9.2f %9.2f %9.2f %7d %6d %6d%n",
                minutes,
                side,
                ran.calls() / ran.seconds(),
                ran.latencies().getValueAtPercentile(99) / 1e6,
                ran.latencies().getMaxValue() / 1e6,
                held.heapBytes() / MEGABYTE,
                held.oldBytes() / MEGABYTE,
                held.directBytes() / MEGABYTE,
                held.pooledBytes() / MEGABYTE,
                held.threads(),
                held.descriptors(),
                ran.errors());
    }

    private static boolean isFlat(List<List<Sample>> samples, long calls, long errors, String firstError) {
        boolean flat = errors == 0;
        for (int side = 0; side < samples.size(); side++) {
            for (Verdict verdict : new Flatness(samples.get(side)).verdicts()) {
                System.out.printf(
                        "%-6s  %-33s %-5s %s%n",
                        SIDES.get(side), verdict.what(), verdict.flat() ? "flat" : "GROWS", verdict.growth());
                flat &= verdict.flat();
            }
        }
        System.out.println(calls + " calls, " + errors + " errors" + (errors == 0 ? "" : ", the first: " + firstError));
        System.out.println(flat ? "flat" : "not flat: see what grows, or the errors");
        return flat;
    }
}
