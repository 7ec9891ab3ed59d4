package tern.rpc.diagnosis.text;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.excess.Evidence;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.Exceptions;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds failures that may have leaked a semaphore permit: a method acquired a permit and then threw an exception. The
 * failures themselves may have a different cause, and may have ended long before calls began to wait for permits.
 */
final class LostPermits {

    static final int MIN_FAILURES = 3;

    /** Code that does not get a permit in time throws its exception at most {@value} lines after the wait. */
    private static final int NEAR_LINES = 2;

    private final Evidence evidence;
    private final ExcessTime excess;

    LostPermits(Evidence evidence, ExcessTime excess) {
        this.evidence = evidence;
        this.excess = excess;
    }

    /**
     * Returns text about the most frequent failure that may have lost a permit, such as {@code 40 calls failed with
     * ConnectionRequestTimeoutException in Bank.pay:40 after they took a permit}; null if there are only a few such
     * failures.
     *
     * @param wait the wait for a permit
     */
    @Nullable
    String failures(Part wait) {
        StackTraceElement line = excess.samples.lineOf(wait);
        Map<String, Integer> counts = new HashMap<>();
        for (EndedCall call : losing(wait)) {
            Throwable failure = call.failure();
            String in = failure == null || line == null ? null : leftIn(failure, line);
            if (failure != null && in != null) {
                counts.merge(name(failure) + " in " + in, 1, Integer::sum);
            }
        }
        return counts.entrySet().stream()
                .filter(entry -> entry.getValue() >= MIN_FAILURES)
                .max(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(entry -> entry.getValue() + " calls failed with " + entry.getKey()
                        + " after they took a permit, so look there first for a permit that is not released")
                .orElse(null);
    }

    /**
     * Returns the failed calls of the last minutes that may have lost a permit.
     *
     * @param wait the wait for a permit
     */
    List<EndedCall> losing(Part wait) {
        StackTraceElement line = excess.samples.lineOf(wait);
        if (line == null) {
            return List.of();
        }
        // Code that stops waiting for a permit also throws an exception, but has taken no permit.
        Set<String> givenUp = excess.accounts.stream()
                .filter(counted -> wait.equals(excess.failureOf(counted.call())))
                .map(counted -> counted.call().failure())
                .filter(Objects::nonNull)
                .map(LostPermits::name)
                .collect(Collectors.toSet());
        return evidence.earlier().stream()
                .filter(call -> {
                    Throwable failure = call.failure();
                    return failure != null && !givenUp.contains(name(failure)) && leftIn(failure, line) != null;
                })
                .toList();
    }

    private static String name(Throwable failure) {
        List<Throwable> chain = Exceptions.chain(failure);
        return Exceptions.named(chain.get(chain.size() - 1));
    }

    /**
     * Returns the line at which the exception left the method that waits for permits; null if this line does not come
     * after the line of the wait, or if the exception did not pass through the method.
     */
    private static @Nullable String leftIn(Throwable failure, StackTraceElement waiting) {
        return gaveUp(failure, waiting)
                ? null
                : Exceptions.chain(failure).stream()
                        .flatMap(one -> List.of(one.getStackTrace()).stream())
                        .filter(frame -> ApplicationCode.method(frame).equals(ApplicationCode.method(waiting))
                                && frame.getLineNumber() > waiting.getLineNumber())
                        .findFirst()
                        .map(ApplicationCode::shown)
                        .orElse(null);
    }

    /**
     * Returns whether the method that waits for permits threw its own exception right after the wait, as after a
     * {@code tryAcquire} that returned false.
     */
    private static boolean gaveUp(Throwable failure, StackTraceElement waiting) {
        List<Throwable> chain = Exceptions.chain(failure);
        StackTraceElement[] frames = chain.get(chain.size() - 1).getStackTrace();
        return frames.length > 0
                && ApplicationCode.method(frames[0]).equals(ApplicationCode.method(waiting))
                && frames[0].getLineNumber() > waiting.getLineNumber()
                && frames[0].getLineNumber() <= waiting.getLineNumber() + NEAR_LINES;
    }
}
