package tern.rpc.diagnosis.text;

import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.excess.ExcessTime;
import tern.rpc.diagnosis.failure.Exceptions;
import tern.rpc.pool.ApplicationCode;

/**
 * Finds the application code that starts the recursion of a library, such as the matcher of a regular expression. The
 * JVM keeps only the innermost frames of a deep stack, so the exception does not contain this code.
 */
final class DeepRecursions {

    private DeepRecursions() {}

    /**
     * Returns text that names the application code in samples of the failed calls or, without samples, the called
     * methods. Returns an empty string if the failure is not a deep recursion in a library.
     */
    static String callerOf(Part failure, ExcessTime excess) {
        Map<String, Integer> lines = new TreeMap<>();
        Set<String> methods = new TreeSet<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            if (failure.equals(excess.failureOf(call)) && isOfLibrary(call)) {
                methods.add(call.method());
                excess.samples.list(call.ledger()).stream()
                        .map(Sample::line)
                        .filter(Objects::nonNull)
                        .forEach(line -> lines.merge(ApplicationCode.shown(line), 1, Integer::sum));
            }
        }
        return lines.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(line -> "; samples of these calls show " + line.getKey())
                .orElse(methods.isEmpty() ? "" : "; in calls to " + String.join(", ", methods));
    }

    private static boolean isOfLibrary(EndedCall call) {
        Throwable failure = call.failure();
        return failure != null
                && Exceptions.chain(failure).stream().anyMatch(StackOverflowError.class::isInstance)
                && Exceptions.chain(failure).stream()
                        .noneMatch(one -> ApplicationCode.first(one.getStackTrace()) != null);
    }
}
