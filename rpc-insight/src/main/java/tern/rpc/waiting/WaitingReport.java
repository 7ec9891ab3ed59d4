package tern.rpc.waiting;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.RunningCall;
import tern.rpc.pool.PoolSetting;
import tern.rpc.pool.PoolSnapshot;

/**
 * What threads and calls wait for at one moment, most of them first.
 *
 * @param vitals to be looked at first
 * @param threads platform threads that were looked at
 * @param calls served calls that run
 * @param waiting threads and calls in the rows
 * @param pools what can be waited for, with its counters
 */
public record WaitingReport(Vitals vitals, int threads, int calls, int waiting, List<Row> rows, List<Pool> pools) {

    public WaitingReport {
        rows = List.copyOf(rows);
        pools = List.copyOf(pools);
    }

    /**
     * @param resource what is waited for
     * @param threads how many threads, or calls that have none, wait for it
     * @param share of all that wait, 0 to 1
     * @param longest how long one of them has been waiting, as far as ledgers tell: at the most since its last counted
     *     operation; null when none of them has a ledger
     * @param change property that would make the wait shorter, with its value where a pool tells it
     */
    public record Row(
            String resource,
            int threads,
            double share,
            @Nullable Duration longest,
            String change) {}

    /**
     * @param waiting threads or tasks that wait for it now
     * @param refused and {@code callerRuns} since the beginning
     */
    public record Pool(String name, String kind, int active, int max, int waiting, long refused, long callerRuns) {}

    /** What is known so far of one row. */
    private static final class Tally {
        private final String change;
        private int threads;
        private long longestNanos = -1;

        Tally(String change) {
            this.change = change;
        }

        void add(@Nullable RunningCall call) {
            threads++;
            if (call != null) {
                longestNanos = Math.max(longestNanos, call.phaseNanos());
            }
        }

        Row row(String resource, int all, Map<String, String> settings) {
            String value = settings.get(change);
            return new Row(
                    resource,
                    threads,
                    (double) threads / all,
                    longestNanos < 0 ? null : Duration.ofNanos(longestNanos),
                    value == null ? change : change + " (now " + value + ")");
        }
    }

    /**
     * Makes a report of what was found.
     *
     * @param stacks of platform threads
     * @param running calls; one whose thread is not among the stacks is told by its ledger
     * @param classifiers asked in this order
     */
    public static WaitingReport of(
            Vitals vitals,
            List<ThreadStack> stacks,
            List<RunningCall> running,
            List<PoolSnapshot> pools,
            List<StackClassifier> classifiers) {
        Map<Long, RunningCall> byThread = new HashMap<>();
        running.forEach(call -> byThread.put(call.threadId(), call));
        Map<String, Tally> tallies = new LinkedHashMap<>();
        Set<Long> seen = new HashSet<>();
        for (ThreadStack stack : stacks) {
            seen.add(stack.id());
            add(tallies, classify(stack, classifiers), byThread.get(stack.id()));
        }
        for (RunningCall call : running) {
            if (!seen.contains(call.threadId())) {
                add(tallies, PhaseWaits.of(call.phase()), call);
            }
        }
        int all = tallies.values().stream().mapToInt(tally -> tally.threads).sum();
        return new WaitingReport(
                vitals,
                stacks.size(),
                running.size(),
                all,
                rows(tallies, all, settings(pools)),
                pools.stream().map(WaitingReport::pool).toList());
    }

    private static void add(Map<String, Tally> tallies, @Nullable Wait wait, @Nullable RunningCall call) {
        if (wait != null && !wait.equals(Wait.IDLE)) {
            tallies.computeIfAbsent(wait.resource(), resource -> new Tally(wait.change()))
                    .add(call);
        }
    }

    private static @Nullable Wait classify(ThreadStack stack, List<StackClassifier> classifiers) {
        for (StackClassifier classifier : classifiers) {
            Wait wait = classifier.classify(stack);
            if (wait != null) {
                return wait;
            }
        }
        return null;
    }

    private static List<Row> rows(Map<String, Tally> tallies, int all, Map<String, String> settings) {
        List<Row> rows = new ArrayList<>();
        tallies.forEach((resource, tally) -> rows.add(tally.row(resource, all, settings)));
        rows.sort(Comparator.comparingInt(Row::threads).reversed().thenComparing(Row::resource));
        return rows;
    }

    private static Map<String, String> settings(List<PoolSnapshot> pools) {
        return pools.stream()
                .flatMap(pool -> pool.settings().stream())
                .collect(Collectors.toMap(
                        PoolSetting::property,
                        PoolSetting::value,
                        (one, other) -> one.equals(other) ? one : one + " and " + other));
    }

    private static Pool pool(PoolSnapshot snapshot) {
        return new Pool(
                snapshot.name(),
                snapshot.kind().name().toLowerCase(Locale.ROOT),
                snapshot.active(),
                snapshot.max(),
                snapshot.waiting(),
                snapshot.refused(),
                snapshot.callerRuns());
    }

    /** For people: the lines of the state, then the table, then the pools. */
    public String text() {
        StringBuilder text = new StringBuilder(
                String.format(Locale.ROOT, "%d of %d threads and %d running calls wait%n", waiting, threads, calls));
        vitals.lines().forEach(line -> text.append(String.format(Locale.ROOT, "  %-8s%s%n", line.name(), line.text())));
        int width = rows.stream().mapToInt(row -> row.resource().length()).max().orElse(0);
        String format = "  %7s  %5s  %9s  %-" + Math.max("waiting for".length(), width) + "s  %s%n";
        text.append(String.format(Locale.ROOT, format, "threads", "share", "longest", "waiting for", "to change"));
        for (Row row : rows) {
            text.append(String.format(
                    Locale.ROOT,
                    format,
                    row.threads(),
                    Math.round(row.share() * 100) + " %",
                    row.longest() == null ? "-" : row.longest().toMillis() + " ms",
                    row.resource(),
                    row.change()));
        }
        for (Pool pool : pools) {
            text.append(String.format(
                    Locale.ROOT,
                    "  pool %s (%s): %d of %d in use, %d waiting, %d refused, %d run by callers%n",
                    pool.name(),
                    pool.kind(),
                    pool.active(),
                    pool.max(),
                    pool.waiting(),
                    pool.refused(),
                    pool.callerRuns()));
        }
        return text.toString().stripTrailing();
    }
}
