package tern.rpc.diagnosis;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.calls.CallRecords;
import tern.rpc.diagnosis.calls.CallRecords.Sums;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.failure.FailureReason;
import tern.rpc.diagnosis.failure.ServerRefusals;
import tern.rpc.pool.PoolSnapshot;

/**
 * Counts the calls that were refused or failed in the last minute, by reason. A small share of such calls is no miss,
 * so the diagnosis of healthy calls names their reasons. Not thread-safe: only the diagnosis thread uses it.
 */
final class LastMinute {

    private static final long NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final int MAX_LINES = 5;

    /**
     * The exceptions of at most {@value} calls are read in each second. They stand for all failed calls of the second.
     */
    private static final int MAX_READ = 32;

    private final CallRecords records;
    private final Deque<Second> seconds = new ArrayDeque<>();
    private @Nullable CounterSnapshot last;

    LastMinute(CallRecords records) {
        this.records = records;
    }

    /** @param calls the number of calls that ended or were refused */
    private record Second(long endNanos, long calls, Map<FailureReason, Long> bad) {}

    /**
     * Adds the calls of one second.
     *
     * @param now the counters at the end of the second, with all refused calls
     */
    void second(CounterSnapshot now) {
        CounterSnapshot before = last;
        last = now;
        if (before == null) {
            return;
        }
        Evidence.Counts counts = now.since(before, 0);
        seconds.addLast(new Second(
                now.atNanos(),
                counts.calls() + counts.refused(),
                counts.refused() + counts.failed() == 0 ? Map.of() : bad(before, now, counts.failed())));
        seconds.removeIf(second -> now.atNanos() - second.endNanos() >= NANOS);
    }

    private Map<FailureReason, Long> bad(CounterSnapshot before, CounterSnapshot now, long failed) {
        Map<FailureReason, Long> bad = new HashMap<>();
        PoolSnapshot workers = ServerRefusals.workers(now.pools().values().stream());
        now.refusedSince(before).forEach((reason, count) -> {
            if (reason.equals(ServerRefusals.METHOD)) {
                addRefusedByMethods(before, now, count, bad);
            } else {
                bad.merge(new FailureReason(true, ServerRefusals.text(reason, workers)), count, Long::sum);
            }
        });
        if (failed > 0) {
            addFailed(before.atNanos(), failed, bad);
        }
        return bad;
    }

    /** @param refused the number of calls that the limits of all methods refused */
    private void addRefusedByMethods(
            CounterSnapshot before, CounterSnapshot now, long refused, Map<FailureReason, Long> bad) {
        Map<String, String> limits = records.limitTexts();
        long rest = refused;
        for (Map.Entry<String, Sums> method : now.methodsSince(before).entrySet()) {
            long count = Math.min(rest, method.getValue().refused());
            if (count > 0) {
                String limit = limits.get(method.getKey());
                String text = "the limit of " + method.getKey() + " was reached" + (limit == null ? "" : ": " + limit);
                bad.merge(new FailureReason(true, text), count, Long::sum);
                rest -= count;
            }
        }
        if (rest > 0) {
            bad.merge(new FailureReason(true, ServerRefusals.text(ServerRefusals.METHOD, null)), rest, Long::sum);
        }
    }

    private void addFailed(long sinceNanos, long failed, Map<FailureReason, Long> bad) {
        Map<FailureReason, Long> read = new HashMap<>();
        long all = 0;
        for (EndedCall call : records.bad(sinceNanos)) {
            FailureReason reason = all < MAX_READ ? FailureReason.of(call) : null;
            if (reason != null) {
                read.merge(reason, 1L, Long::sum);
                all++;
            }
        }
        if (all == 0) {
            bad.merge(FailureReason.UNKNOWN, failed, Long::sum);
        }
        double each = (double) failed / Math.max(1, all);
        read.forEach((reason, count) -> bad.merge(reason, Math.max(1, Math.round(count * each)), Long::sum));
    }

    /** Returns one line for each reason, the most frequent first; empty if no call was refused or failed. */
    List<String> lines() {
        long calls = 0;
        Map<FailureReason, Long> bad = new HashMap<>();
        for (Second second : seconds) {
            calls += second.calls();
            second.bad().forEach((reason, count) -> bad.merge(reason, count, Long::sum));
        }
        List<Map.Entry<FailureReason, Long>> sorted = bad.entrySet().stream()
                .sorted(Map.Entry.<FailureReason, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(entry -> entry.getKey().text()))
                .toList();
        List<String> lines = new ArrayList<>();
        for (Map.Entry<FailureReason, Long> entry : sorted.subList(0, Math.min(MAX_LINES, sorted.size()))) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%-8s %,d of %,d calls in the last minute: %s",
                    entry.getKey().isRefusal() ? "refused" : "failed",
                    entry.getValue(),
                    calls,
                    entry.getKey().text()));
        }
        if (sorted.size() > MAX_LINES) {
            long others = sorted.stream()
                    .skip(MAX_LINES)
                    .mapToLong(Map.Entry::getValue)
                    .sum();
            lines.add(String.format(
                    Locale.ROOT,
                    "others   %,d calls were refused or failed for %d other reasons",
                    others,
                    sorted.size() - MAX_LINES));
        }
        return lines;
    }
}
