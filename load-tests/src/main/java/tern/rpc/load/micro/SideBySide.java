package tern.rpc.load.micro;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * Compares operations of Tern with equivalent operations of a library on one thread. The operations run alternately for
 * several rounds, and the first round is discarded. The results are medians over the rounds: the thread's CPU time, its
 * allocated bytes, and the ratio of the CPU times of the two operations.
 */
final class SideBySide {

    private static final int ROUNDS = 9;
    private static final int MILLIS = 300;

    /** Two compared operations. Neither returns null. */
    record Row(String name, Supplier<?> ours, Supplier<?> theirs) {}

    private record Figure(Cost ours, Cost theirs) {

        double ratio() {
            return ours.cpuNanos() / theirs.cpuNanos();
        }
    }

    private SideBySide() {}

    /**
     * Measures and prints all rows.
     *
     * @param library the library's name for the column headers
     * @param arguments the number of rounds, the milliseconds per operation and round, and a string that the names of
     *     the measured rows must contain; trailing arguments can be omitted
     */
    static void print(String library, List<Row> rows, String... arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : ROUNDS;
        int millis = arguments.length > 1 ? Integer.parseInt(arguments[1]) : MILLIS;
        String wanted = arguments.length > 2 ? arguments[2] : "";
        Map<String, List<Figure>> figures = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Row row : rows) {
                if (!row.name().contains(wanted)) {
                    continue;
                }
                Figure figure = new Figure(Cost.of(row.ours(), millis), Cost.of(row.theirs(), millis));
                if (round > 0) {
                    figures.computeIfAbsent(row.name(), added -> new ArrayList<>())
                            .add(figure);
                }
            }
        }
        System.out.printf(
                "JDK %s, one thread, %d rounds of %d ms in turn, load average %.1f%n",
                Runtime.version(),
                rounds,
                millis,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        System.out.printf(
                "%-46s %12s %12s %6s %12s %12s%n", "", "ours, CPU ns", library, "ratio", "ours, bytes", library);
        figures.forEach((name, measured) -> System.out.printf(
                "%-46s %,12.0f %,12.0f %6.3f %,12.0f %,12.0f%n",
                name,
                median(measured, figure -> figure.ours().cpuNanos()),
                median(measured, figure -> figure.theirs().cpuNanos()),
                median(measured, Figure::ratio),
                median(measured, figure -> figure.ours().bytes()),
                median(measured, figure -> figure.theirs().bytes())));
    }

    private static double median(List<Figure> figures, ToDoubleFunction<Figure> value) {
        return figures.stream().mapToDouble(value).sorted().toArray()[figures.size() / 2];
    }
}
