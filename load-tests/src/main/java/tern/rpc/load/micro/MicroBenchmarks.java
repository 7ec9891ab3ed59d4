package tern.rpc.load.micro;

import java.util.Collection;
import java.util.Locale;
import java.util.stream.Collectors;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.util.Statistics;
import tern.rpc.load.replay.Facts;

/**
 * Runs all benchmarks of single components in a few minutes, and prints times and allocated bytes as a table for {@code
 * docs/decisions/0029-optimizations-kept-and-dropped.md}. The table contains medians instead of means, because other
 * processes have less influence on medians.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.MicroBenchmarks [part of a name]</pre>
 */
public final class MicroBenchmarks {

    private static final TimeValue TIME = TimeValue.milliseconds(500);
    private static final int WARM_UPS = 4;
    private static final int MEASURED = 5;

    /**
     * The name of a benchmark that is skipped. Its class has parameters that do not change its result, so it would
     * measure the same value several times.
     */
    private static final String CLOCK = "readTheClock";

    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private MicroBenchmarks() {}

    public static void main(String[] arguments) throws RunnerException {
        Options options = new OptionsBuilder()
                .include(arguments.length > 0 ? arguments[0] : "Benchmark")
                .exclude(CLOCK)
                .forks(1)
                .warmupIterations(WARM_UPS)
                .warmupTime(TIME)
                .measurementIterations(MEASURED)
                .measurementTime(TIME)
                .addProfiler(GCProfiler.class)
                .jvmArgsAppend("-Xms512m", "-Xmx512m")
                .shouldFailOnError(true)
                .build();
        String before = Facts.loadAverage();
        Collection<RunResult> results = new Runner(options).run();
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println("load average before the first: " + before);
        System.out.println();
        System.out.println("| benchmark | with | ns, median | least | most | bytes |");
        System.out.println("| --- | --- | --- | --- | --- | --- |");
        results.forEach(result -> System.out.println(row(result)));
    }

    private static String row(RunResult result) {
        String name = result.getParams().getBenchmark();
        int method = name.lastIndexOf('.');
        int type = name.lastIndexOf('.', method - 1);
        String with = result.getParams().getParamsKeys().stream()
                .map(key -> key + " " + result.getParams().getParam(key))
                .collect(Collectors.joining(", "));
        Statistics time = result.getPrimaryResult().getStatistics();
        Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
        return String.format(
                Locale.ROOT,
                "| %s | %s | %s | %s | %s | %s |",
                name.substring(type + 1),
                with,
                number(time.getPercentile(50)),
                number(time.getMin()),
                number(time.getMax()),
                allocated == null ? "" : number(Math.rint(allocated.getScore())));
    }

    private static String number(double value) {
        return Double.isNaN(value) ? "" : String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value);
    }
}
