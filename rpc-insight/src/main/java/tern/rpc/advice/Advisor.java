package tern.rpc.advice;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Says what is short, the likeliest cause first. Stateless. */
public final class Advisor {

    /** Causes before what they bring about: of two findings that weigh the same, the earlier one comes first. */
    private static final List<Rule> RULES = List.of(
            new ClientThreads(),
            new ChattyCalls(),
            new FullProcessors(),
            new PerHostBelowTotal(),
            new FairLock(),
            new CallerRuns(),
            new SynchronousLogging(),
            new PoolBelowDemand(),
            new WorkersBeyondConnections(),
            new WaitBeyondTarget(),
            new QueueBeyondTarget(),
            new TimeoutAgainstTarget(),
            new AttemptsBeyondTimeout());

    private static final Comparator<Finding> ORDER = Comparator.comparing(Finding::severity)
            .thenComparing(Comparator.comparing(Finding::saved).reversed());

    private Advisor() {}

    public static List<Finding> advise(Situation situation) {
        return RULES.stream()
                .flatMap(rule -> rule.check(situation))
                .sorted(ORDER) // stable: rules keep their order
                .toList();
    }

    /** For people: {@code 1.5 ms}. */
    static String millis(Duration time) {
        double millis = time.toNanos() / 1e6;
        if (millis >= 10_000) {
            return number(millis / 1_000) + " s";
        }
        return number(millis) + " ms";
    }

    static String number(double value) {
        String text = String.format(Locale.ROOT, Math.abs(value) >= 100 ? "%.0f" : "%.1f", value);
        return text.endsWith(".0") ? text.substring(0, text.length() - 2) : text;
    }
}
