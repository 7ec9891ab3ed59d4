package garden.run;

import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;

/** Summarizes how many faults of one {@link Half} the diagnosis found, and how many false alarms it raised. */
record Totals(List<Verdict> verdicts) {

    String text() {
        List<Verdict> faults = pick(verdict -> !verdict.healthy() && verdict.valid());
        List<Verdict> healthy = pick(verdict -> verdict.healthy() && verdict.valid());
        double[] seconds = faults.stream()
                .mapToDouble(Verdict::seconds)
                .filter(value -> value >= 0)
                .sorted()
                .toArray();
        return String.format(
                Locale.ROOT,
                "faults %d: named first %d, with the right change %d, named at all %d, harmful advice %d, silent %d%n"
                        + "seconds until the first cause: median %.0f, longest %.0f%n"
                        + "healthy situations %d: false alarms %d%n"
                        + "not counted: %d faults that made too few calls miss, %d healthy situations with late calls%n",
                faults.size(),
                count(faults, Verdict::first),
                count(faults, Verdict::right),
                count(faults, Verdict::named),
                count(faults, Verdict::harmful),
                count(faults, verdict -> verdict.seconds() < 0),
                seconds.length == 0 ? -1 : seconds[seconds.length / 2],
                seconds.length == 0 ? -1 : seconds[seconds.length - 1],
                healthy.size(),
                count(healthy, Verdict::alarm),
                pick(verdict -> !verdict.healthy() && !verdict.valid()).size(),
                pick(verdict -> verdict.healthy() && !verdict.valid()).size());
    }

    String table() {
        StringBuilder table =
                new StringBuilder("| fault | first cause | first? | named? | right change? | after | harmful?"
                        + " | bad calls | change |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
        pick(verdict -> !verdict.healthy())
                .forEach(verdict -> table.append(verdict.row()).append('\n'));
        table.append("\n| healthy situation | diagnosis | bad calls | cause |\n| --- | --- | --- | --- |\n");
        pick(Verdict::healthy).forEach(verdict -> table.append(verdict.row()).append('\n'));
        return table.toString();
    }

    private List<Verdict> pick(Predicate<Verdict> wanted) {
        return verdicts.stream().filter(wanted).toList();
    }

    private static long count(List<Verdict> verdicts, Predicate<Verdict> wanted) {
        return verdicts.stream().filter(wanted).count();
    }
}
