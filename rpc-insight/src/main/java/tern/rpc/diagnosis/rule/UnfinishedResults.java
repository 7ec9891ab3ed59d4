package tern.rpc.diagnosis.rule;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tern.rpc.LaterResult;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.stack.MethodLines;

/**
 * Recognizes results of asynchronous methods that are never completed: the calls end at their deadline or hang, and
 * their results do not arrive afterwards either. If the results were only late, some of them would have arrived.
 *
 * @param method the asynchronous method, for example {@code InvoiceService.invoice}
 * @param place the code of the method with its lines; null if it is unknown
 * @param isAlways whether no call to the method has got a result in the meantime
 * @param fact how many calls got no result
 */
public record UnfinishedResults(String method, @Nullable String place, boolean isAlways, String fact) {

    private static final int MIN_CALLS = 3;

    /**
     * A running call counts only if it has waited for at least {@value} times the latency target, because it may still
     * get its result.
     */
    private static final double LONG_TARGETS = 10;

    /**
     * At least one result must be missing for {@value} times the time after which its call ended. Otherwise, the work
     * for the results may only take slightly longer than the deadline.
     */
    private static final double LATER = 0.5;

    /** Returns the results that are never completed although calls wait for them; null if there are none. */
    public static @Nullable UnfinishedResults of(Evidence evidence, ExcessTime excess, Part wait) {
        List<EndedCall> waiting = excess.accounts.stream()
                .filter(counted ->
                        2 * counted.times().of(wait) >= counted.call().tookNanos())
                .map(ExcessTime.Counted::call)
                .filter(call -> call.ledger().laterResult() != null && call.tookNanos() > evidence.targetNanos())
                .toList();
        String method = waiting.stream()
                .filter(call -> isMissing(call, evidence))
                .collect(Collectors.groupingBy(EndedCall::method, Collectors.counting()))
                .entrySet()
                .stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse("");
        List<EndedCall> calls =
                waiting.stream().filter(call -> call.method().equals(method)).toList();
        List<EndedCall> missing =
                calls.stream().filter(call -> isMissing(call, evidence)).toList();
        long now = Stream.concat(evidence.bad().stream(), evidence.good().stream())
                .mapToLong(EndedCall::endedNanos)
                .reduce((one, other) -> one - other > 0 ? one : other)
                .orElse(0);
        double shortest = missing.stream().mapToLong(EndedCall::tookNanos).min().orElse(0);
        boolean isAnyLate = Stream.concat(calls.stream(), evidence.earlier().stream())
                .filter(call -> call.method().equals(method))
                .anyMatch(call -> isLate(call, shortest));
        boolean isLongAgo = missing.stream().anyMatch(call -> isLongMissing(call, now));
        return missing.size() < MIN_CALLS || isAnyLate || !isLongAgo
                ? null
                : new UnfinishedResults(
                        method,
                        place(method, missing.get(0)),
                        missing.stream().noneMatch(call -> LostResults.isOvertaken(call, evidence)),
                        fact(missing, calls.size()));
    }

    private static boolean isMissing(EndedCall call, Evidence evidence) {
        LaterResult later = call.ledger().laterResult();
        return later != null
                && !later.isComplete()
                && (call.ledger().isEnded()
                        || (call.tookNanos() >= LONG_TARGETS * evidence.targetNanos()
                                && LostResults.isOvertaken(call, evidence)));
    }

    /** Returns whether the result of the call arrived as late as in calls that got none. */
    private static boolean isLate(EndedCall call, double shortest) {
        LaterResult later = call.ledger().laterResult();
        return later != null && later.isComplete() && 2 * call.tookNanos() >= shortest;
    }

    private static boolean isLongMissing(EndedCall call, long now) {
        return !call.ledger().isEnded() || now - call.endedNanos() >= LATER * call.tookNanos();
    }

    private static String fact(List<EndedCall> missing, int late) {
        long ended = missing.stream().filter(call -> call.ledger().isEnded()).count();
        double longest = missing.stream().mapToLong(EndedCall::tookNanos).max().orElse(0);
        return String.format(
                Locale.ROOT,
                "never    %d of %d late calls got no result: %s; no result arrived late, and no thread works for them",
                missing.size(),
                late,
                ended == missing.size()
                        ? "they ended after up to " + Times.millis(longest) + " ms, when their callers gave up"
                        : ended == 0
                                ? "they have waited for up to " + Times.millis(longest) + " ms"
                                : ended
                                        + " of them ended when their callers gave up, and the others still wait, for up to "
                                        + Times.millis(longest) + " ms");
    }

    /** Returns the code of the asynchronous method with its lines; null if it is unknown. */
    public static @Nullable String place(String method, EndedCall call) {
        LaterResult later = call.ledger().laterResult();
        Class<?> code = later == null ? null : later.code();
        return code == null || Proxy.isProxyClass(code)
                ? null
                : MethodLines.shown(code, method.substring(method.lastIndexOf('.') + 1));
    }
}
