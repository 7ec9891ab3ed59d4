package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.calls.MethodRate;
import tern.rpc.diagnosis.stack.StackReader;

/**
 * Compares the values measured while calls miss the latency target with their usual values. Reports which values
 * changed, are new or stayed the same.
 */
public final class Changes {

    /** A value is reported as changed if it is at least {@value} times its usual value. */
    private static final double MUCH = 2;

    /**
     * The number of operations per call is compared only if the current number or the usual number is greater than
     * {@value}.
     */
    private static final double LEAST_COUNT = 0.2;

    /** Methods with fewer than {@value} calls per second are not reported. */
    private static final double LEAST_RATE = 1;

    /** A higher allocation rate is reported only if it is at least {@value} bytes per second. */
    private static final double LEAST_ALLOCATED = 50e6;

    /**
     * The number of bytes in a megabyte, the unit in which allocation rates are shown. To decide whether two rates
     * differ only by chance, each byte counts as an event.
     */
    private static final double BYTES = 1e6;

    /** A part of the names of the classes that repeat requests in Apache's HTTP clients. */
    private static final String RETRIES = "RetryExec.";

    private static final int MAX_METHODS = 2;
    private static final int MAX_OPERATIONS = 2;

    /** The maximum time since the first call to a method that is reported as new. */
    private static final long NEW_NANOS = 90_000_000_000L;

    /** The time after the application's first call in which new methods are not reported. */
    private static final long START_NANOS = 60_000_000_000L;

    private final Evidence evidence;
    private final ExcessTime excess;
    private final Operations operations;
    private final OperationCounts counts;
    private final OperationsPerCall perCall;

    public Changes(Evidence evidence, ExcessTime excess, Operations operations) {
        this.evidence = evidence;
        this.excess = excess;
        this.operations = operations;
        this.counts = new OperationCounts(evidence, excess, operations);
        this.perCall = new OperationsPerCall(evidence, excess, operations);
    }

    /**
     * Returns lines that compare measured values with their usual values, for one cause. Each line begins with
     * {@code changed}, {@code new} or {@code same}.
     */
    public List<String> lines(Part cause) {
        List<String> lines = new ArrayList<>();
        List<String> same = new ArrayList<>();
        double rate = (evidence.calls().calls() + evidence.calls().refused()) / evidence.seconds();
        compare("rate", "calls/s", rate, evidence.usual().figure("calls"), evidence.seconds(), lines, same);
        evidence.rates().stream()
                .filter(method -> method.isHigh() && method.perSecond() >= LEAST_RATE)
                .sorted(Comparator.comparingDouble(method -> method.usual() - method.perSecond()))
                .limit(MAX_METHODS)
                .forEach(method -> lines.add(changed(method)));
        double allocated = evidence.machine().allocatedPerSecond();
        double usuallyAllocated = evidence.usual().figure("allocated");
        // A lower allocation rate is only a consequence of waiting calls, so it is not reported. Low rates are known
        // only roughly, because they are computed from a few collections.
        if (allocated >= usuallyAllocated && (allocated >= LEAST_ALLOCATED || allocated < MUCH * usuallyAllocated)) {
            compare("allocation", "MB/s", allocated / 1e6, usuallyAllocated / 1e6, BYTES, lines, same);
        }
        for (Phase phase : List.of(Phase.SQL, Phase.REDIS, Phase.HTTP, Phase.RPC)) {
            double usually = operations.usualCount(phase);
            double now = perCall.now(phase, "");
            if (usually > 0 && Math.max(usually, now) > LEAST_COUNT && now > 0) {
                List<String> unusual = new ArrayList<>(unusual(phase));
                String failing = failing(phase);
                if (failing != null) {
                    unusual.add(failing);
                }
                lines.addAll(unusual);
                compare(
                        phase.key() + " operations",
                        "per call",
                        now,
                        usually,
                        (double) evidence.calls().calls(),
                        lines,
                        unusual.isEmpty() && !areRepeatedByClient(phase) ? same : new ArrayList<>());
            }
        }
        long oldest = evidence.methodAges().values().stream()
                .mapToLong(Long::longValue)
                .max()
                .orElse(0);
        for (Map.Entry<String, Long> entry : evidence.methodAges().entrySet()) {
            if (entry.getValue() < Math.min(NEW_NANOS, oldest - START_NANOS)) {
                lines.add(String.format(
                        Locale.ROOT,
                        "new      %s, first called %d s ago",
                        entry.getKey(),
                        entry.getValue() / 1_000_000_000L));
            }
        }
        if (isNew(cause)) {
            lines.add("new      " + cause.name() + " was not seen in calls before");
        }
        if (!same.isEmpty()) {
            lines.add("same     " + String.join(", ", same));
        }
        return lines;
    }

    /**
     * Returns a line about the operations of one kind if at least half of them fail, which is unusual; otherwise null.
     * Code often repeats such operations in some calls, while other calls run none.
     */
    private @Nullable String failing(Phase phase) {
        int calls = 0;
        int all = 0;
        int failed = 0;
        for (ExcessTime.Counted counted : excess.accounts) {
            int before = all;
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                if (entry.kind() == phase) {
                    all += entry.count();
                    boolean isUnusual =
                            OperationNames.isFailing(entry.name()) && operations.usualNamed(phase, entry.name()) < 0;
                    failed += isUnusual ? entry.count() : 0;
                }
            }
            calls += all > before ? 1 : 0;
        }
        return failed == 0 || 2 * failed < all
                ? null
                : String.format(
                        Locale.ROOT,
                        "changed  %s operations: %.1f of %.1f fail, per call that runs any",
                        phase.key(),
                        (double) failed / calls,
                        (double) all / calls);
    }

    /** Returns whether an HTTP client itself repeats exchanges. The repetitions count as one exchange. */
    private boolean areRepeatedByClient(Phase phase) {
        return phase == Phase.HTTP
                && excess.account.only(part -> part.kind() == Part.Kind.SLEEP).longestFirst().stream()
                        .map(excess.samples::calledIn)
                        .anyMatch(called -> called != null && called.contains(RETRIES));
    }

    /**
     * Returns lines about the operations of one kind that are new in calls, or that calls run more often than usual.
     */
    private List<String> unusual(Phase phase) {
        return operations.each(phase).keySet().stream()
                .map(name -> Account.part(phase, name))
                .filter(part -> perCall.now(phase, part.name()) > 0)
                .filter(part -> counts.areNew(part) || counts.areMore(part))
                .sorted(Comparator.comparingDouble(part -> -perCall.now(phase, part.name())))
                .limit(MAX_OPERATIONS)
                .map(part -> "changed  " + part.name() + ": " + counts.text().numbers(part))
                .toList();
    }

    private static String changed(MethodRate method) {
        MethodRate.Caller caller = method.mainCaller();
        return String.format(
                Locale.ROOT,
                "changed  calls of %s: %.1f calls/s, usually %.1f%s%s",
                method.method(),
                method.perSecond(),
                method.usual(),
                method.sinceNanos() > 0 ? ", since " + method.sinceNanos() / 1_000_000_000L + " s" : "",
                caller == null ? "" : ", mostly from " + caller.address());
    }

    /**
     * Adds a measured value to the changed values, or to the values that stayed the same.
     *
     * @param observed the number of seconds or calls over which events were counted; the values are the means per
     *     second or per call
     */
    private static void compare(
            String what,
            String unit,
            double now,
            double usually,
            double observed,
            List<String> changed,
            List<String> same) {
        if (usually <= 0 || now < 0) {
            return;
        }
        boolean isMuch = now >= MUCH * usually || now * MUCH <= usually;
        if (isMuch && MethodRate.isSignificant(now * observed, usually * observed)) {
            changed.add(String.format(Locale.ROOT, "changed  %s: %.1f %s, usually %.1f", what, now, unit, usually));
        } else {
            same.add(what);
        }
    }

    /**
     * Returns whether the cause is a new operation: an operation of late or failed calls that is unusual for the called
     * methods. Returns false if the usual times of a method that runs it are not known.
     */
    private boolean isNew(Part cause) {
        if (Operations.phase(cause.kind()) == null
                || cause.name().isEmpty()
                || cause.name().startsWith(StackReader.CALLED)) {
            return false;
        }
        boolean known = false;
        for (String method : excess.badByMethod().keySet()) {
            Times usual = evidence.usual().of(method);
            boolean isRun = excess.meanOf(method, cause) > 0;
            known |= usual != null && isRun;
            if (usual == null ? isRun : usual.of(cause) > 0) {
                return false;
            }
        }
        return known && operations.usualEach(phase(cause)) < 0;
    }

    private static Phase phase(Part cause) {
        Phase phase = Operations.phase(cause.kind());
        return phase == null ? Phase.OWN : phase;
    }
}
