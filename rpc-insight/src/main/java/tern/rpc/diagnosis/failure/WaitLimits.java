package tern.rpc.diagnosis.failure;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.diagnosis.account.EndedCall;

/**
 * Reads from exceptions how long code waited for a result before it gave up, and finds the operation that it waited
 * for. Libraries write the time limit into the message.
 */
public final class WaitLimits {

    /**
     * Matches the messages of Reactor's {@code block} and {@code timeout}, and of Guava's futures. The first group is
     * the number, and the second group is the unit.
     */
    private static final Pattern LIMIT = Pattern.compile(
            "(?:Timeout on blocking read for |terminal signal within"
                    + " |^Waited )(\\d+) ?(ms|nanoseconds|microseconds|milliseconds|seconds)\\b",
            Pattern.CASE_INSENSITIVE);

    /** An operation is assumed to be the awaited one only if it takes at least {@value} of the limit. */
    private static final double LEAST = 0.9;

    /**
     * An operation is assumed to be the awaited one only if it takes at most {@value} times the limit, plus a short
     * time.
     */
    private static final double MOST = 1.5;

    private static final double WIDE_NANOS = 5e6;

    private WaitLimits() {}

    /** Returns how long the code of the failed call waited before it gave up, in nanoseconds; -1 if it is unknown. */
    public static double nanos(EndedCall call) {
        return call.failure() == null ? -1 : nanos(Exceptions.chain(call.failure()));
    }

    private static double nanos(List<Throwable> chain) {
        for (Throwable one : chain) {
            Matcher found = LIMIT.matcher(String.valueOf(one.getMessage()));
            if (found.find() && found.group(1).length() < 16) {
                String unit = found.group(2).toUpperCase(Locale.ROOT);
                return TimeUnit.valueOf(unit.equals("MS") ? "MILLISECONDS" : unit)
                        .toNanos(Long.parseLong(found.group(1)));
            }
        }
        return -1;
    }

    /**
     * Returns the operation that the code of the failed call most likely waited for when it gave up: an asynchronous
     * operation that was still running, or an operation that took about as long as the limit. Returns null if there is
     * none.
     */
    static NamedTimes.@Nullable Entry awaited(EndedCall call, List<Throwable> chain) {
        double limit = nanos(chain);
        List<NamedTimes.Entry> running = call.ledger().unfinished().stream()
                .filter(entry -> FailurePart.isOperation(entry.kind()))
                .toList();
        if (limit < 0) {
            // If operations with different names are running, nothing shows which operation the code waited for.
            boolean isOne =
                    running.stream().map(NamedTimes.Entry::name).distinct().count() == 1;
            return isOne ? running.get(0) : null;
        }
        return Stream.concat(running.stream(), call.ledger().named().stream())
                .filter(entry -> FailurePart.isOperation(entry.kind()))
                .filter(entry -> each(entry) >= LEAST * limit && each(entry) <= MOST * limit + WIDE_NANOS)
                .min(Comparator.comparingDouble(entry -> Math.abs(each(entry) - limit)))
                .orElse(null);
    }

    private static double each(NamedTimes.Entry entry) {
        return (double) entry.nanos() / Math.max(1, entry.count());
    }
}
