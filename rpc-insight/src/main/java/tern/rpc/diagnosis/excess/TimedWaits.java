package tern.rpc.diagnosis.excess;

import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.pool.ApplicationCode;

/** Finds the operations that code waits for with a time limit. */
final class TimedWaits {

    private TimedWaits() {}

    /**
     * Returns the operation that most samples show at the line of code in the given name, with its usual time, as in
     * {@code GET bank:80 (usually 14 ms)}; empty if there is none.
     *
     * @param name a name that ends with a line of code, such as {@code TimeoutException in Payments.pay:25}
     */
    static String awaited(String name, ExcessTime excess, Operations operations) {
        Map<Part, Integer> looks = new TreeMap<>(Comparator.comparing(Part::toString));
        for (Sample sample : excess.samples.all()) {
            String operation = sample.nameOfOperation();
            StackTraceElement line = sample.line();
            if (operation != null && line != null && name.endsWith(" in " + ApplicationCode.shown(line))) {
                looks.merge(Account.part(sample.work(), operation), 1, Integer::sum);
            }
        }
        return looks.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(entry -> shown(entry.getKey(), operations))
                .orElse("");
    }

    private static String shown(Part operation, Operations operations) {
        Phase phase = Operations.phase(operation.kind());
        double usually = phase == null ? -1 : operations.usualNamed(phase, operation.name());
        return operation.name() + (usually < 0 ? "" : " (usually " + Times.millis(usually) + " ms)");
    }
}
