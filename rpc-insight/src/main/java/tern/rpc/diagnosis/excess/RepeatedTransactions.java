package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.EndedCall;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.diagnosis.account.Times;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.failure.FailurePart;
import tern.rpc.pool.StoreNames;

/**
 * Finds transactions that calls roll back and repeat, for example because another transaction has changed or inserted
 * the same row. Each single statement is then as fast as usual, but calls run all statements several times. Often no
 * statement fails: with optimistic locking, the update of a changed row simply updates no row.
 */
public final class RepeatedTransactions {

    /**
     * A call counts as retrying a transaction only if it runs at least {@value} times the usual number of statements.
     */
    private static final double MORE = 1.3;

    /**
     * Retried transactions are reported only if late or failed calls roll back at least {@value} times as many
     * transactions as calls that meet the target.
     */
    private static final double MORE_ROLLBACKS = 2;

    private static final Pattern OPTIMISTIC = Pattern.compile("OptimisticLock|StaleObject|StaleState");
    private static final Pattern DUPLICATE = Pattern.compile("DuplicateKey|DataIntegrity|ConstraintViolation");
    private static final Pattern DEADLOCK =
            Pattern.compile("Deadlock|CannotAcquireLock|CannotSerialize|PessimisticLock|ConcurrencyFailure");

    /** Matches a statement that changes a row only if its version is unchanged. */
    private static final Pattern VERSION = Pattern.compile(
            "(?:update|delete) .* and \\S*(?:version|revision)\\S* ?= ?\\?.*", Pattern.CASE_INSENSITIVE);

    private final ExcessTime excess;
    private final Operations operations;

    public RepeatedTransactions(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** The calls that repeat transactions of one data source. */
    private static final class Repeats {
        private int calls;
        private int attempts;
    }

    /** Returns whether the part represents repeated transactions, and not only slow rollbacks. */
    public boolean isOne(Part part) {
        if (part.kind() != Kind.SQL || !NamedTimes.isRollback(part.name())) {
            return false;
        }
        Repeats repeats = repeats().get(part.name());
        return repeats != null && areEnough(part.name(), repeats);
    }

    /**
     * Attributes the time of all statements, of the pauses between the attempts and of the final failures to the
     * repeated transactions. Does nothing if a slow statement takes most of the time, or if the database ended
     * statements because of deadlocks or conflicts. In these cases, the reason for the retries is known.
     *
     * @return whether transactions are retried
     */
    public boolean passOn(TimesByCause byCause) {
        String rollback = repeats().entrySet().stream()
                .filter(entry -> areEnough(entry.getKey(), entry.getValue()))
                .max(Comparator.comparingInt(entry -> entry.getValue().calls))
                .map(Map.Entry::getKey)
                .orElse(null);
        if (rollback == null) {
            return false;
        }
        String store = OperationNames.store(rollback);
        Times statements = byCause.only(part ->
                part.kind() == Kind.SQL && OperationNames.store(part.name()).equals(store));
        boolean isExplained = statements.longestFirst().stream()
                .anyMatch(part -> Deadlocks.isEnded(part.name())
                        || (2 * statements.of(part) > statements.sum() && operations.isSlower(part)));
        if (isExplained || statements.isEmpty()) {
            return false;
        }
        Part repeated = new Part(Kind.SQL, rollback);
        Times one = new Times();
        one.add(repeated, 1);
        statements.longestFirst().forEach(part -> byCause.move(part, repeated));
        for (Part part : byCause.longestFirst()) {
            if (part.kind() == Kind.SLEEP && excess.samples.isRepeatedBetween(part, Phase.SQL)) {
                byCause.pour(part, one, "calls wait before the next attempt in " + part.name());
            } else if (isConflict(part)) {
                byCause.pour(part, one, "calls fail in the end: " + part.name());
            }
        }
        return true;
    }

    private static boolean isConflict(Part part) {
        return part.kind() == Kind.FAILURE
                && List.of(OPTIMISTIC, DUPLICATE, DEADLOCK).stream()
                        .anyMatch(pattern -> pattern.matcher(part.name()).find());
    }

    /** Returns the calls that repeat transactions, by the name of the rollback. */
    private Map<String, Repeats> repeats() {
        Map<String, Repeats> byName = new TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            EndedCall call = counted.call();
            rollbacks(call).forEach((name, rollbacks) -> {
                boolean isFailed = call.failure() != null;
                int attempts = isFailed ? rollbacks : rollbacks + 1;
                if (attempts > 1 && runsMore(call)) {
                    Repeats repeats = byName.computeIfAbsent(name, unknown -> new Repeats());
                    repeats.calls++;
                    repeats.attempts += attempts;
                }
            });
        }
        return byName;
    }

    /** Returns whether the call runs more statements than usual, as far as the usual number is known. */
    private boolean runsMore(EndedCall call) {
        double usually = operations.usualCount(Phase.SQL, Map.of(call.method(), 1));
        return call.ledger().count(Phase.SQL) >= MORE * usually;
    }

    private static Map<String, Integer> rollbacks(EndedCall call) {
        Map<String, Integer> rollbacks = new HashMap<>();
        for (NamedTimes.Entry entry : call.ledger().named()) {
            if (entry.kind() == Phase.SQL && NamedTimes.isRollback(entry.name())) {
                rollbacks.merge(entry.name(), entry.count(), Integer::sum);
            }
        }
        return rollbacks;
    }

    /**
     * Returns whether enough late or failed calls repeat transactions, and clearly more than the calls that meet the
     * target.
     */
    private boolean areEnough(String rollback, Repeats repeats) {
        int all = excess.accounts.size();
        double perCall =
                mean(excess.accounts.stream().map(ExcessTime.Counted::call).toList(), rollback);
        return Deadlocks.areEnough(repeats.calls, all) && perCall >= MORE_ROLLBACKS * mean(excess.good(), rollback);
    }

    private double mean(List<EndedCall> calls, String rollback) {
        double sum = 0;
        int counted = 0;
        for (EndedCall call : calls) {
            if (excess.badByMethod().containsKey(call.method())) {
                sum += rollbacks(call).getOrDefault(rollback, 0);
                counted++;
            }
        }
        return counted == 0 ? 0 : sum / counted;
    }

    /** Describes transactions that are repeated. */
    public CauseDescription describe(Part part) {
        Repeats repeats = repeats().getOrDefault(part.name(), new Repeats());
        String place = operations.placeOf(Phase.SQL, "");
        String failure = failure();
        String version = version(OperationNames.store(part.name()));
        String attempts = String.format(
                Locale.ROOT,
                "%.1f attempts per call in %d of %d recorded late or failed calls",
                (double) repeats.attempts / Math.max(1, repeats.calls),
                repeats.calls,
                excess.accounts.size());
        List<String> facts = new ArrayList<>(operations.figures("sql", Phase.SQL, ""));
        facts.add("attempts " + attempts);
        if (failure != null) {
            facts.add("failure  " + failure);
        }
        return new CauseDescription(
                "REPEATED TRANSACTIONS",
                failure != null ? failure : place != null ? "in " + place : StoreNames.without(part.name()),
                Change.of(
                        Where.CODE,
                        "find out why transactions are rolled back, and let fewer of them be repeated"
                                + Operations.at(place) + ": " + attempts + "; " + reason(failure, version)
                                + "; wait longer before each attempt, and limit their number; a different pool size"
                                + " does not help"),
                facts);
    }

    private static String reason(@Nullable String failure, @Nullable String version) {
        if (failure != null && DUPLICATE.matcher(failure).find()) {
            return "transactions insert the same row at the same time: use one statement that inserts or updates"
                    + " (insert ... on conflict, on duplicate key, merge), or read before inserting";
        }
        if ((failure == null && version != null)
                || (failure != null && OPTIMISTIC.matcher(failure).find())) {
            return "transactions change the same row at the same time (optimistic locking): lock the row when it is"
                    + " read (select ... for update, PESSIMISTIC_WRITE), change it in one statement (set n = n + 1),"
                    + " or change it less often" + (version == null ? "" : ": " + version);
        }
        return (failure == null ? "" : failure + ": ")
                + "the usual reasons are optimistic locking, deadlocks, and rows that exist already; the code that"
                + " repeats the transaction can log its exception";
    }

    /**
     * Returns the exception that calls fail with after their last attempt, and the code that throws it; null if there
     * is none.
     */
    private @Nullable String failure() {
        Map<String, Integer> names = new TreeMap<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            Part failure = counted.call().failure() == null ? null : FailurePart.of(counted.call());
            if (failure != null && isConflict(failure)) {
                names.merge(failure.name(), 1, Integer::sum);
            }
        }
        return names.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }

    /** Returns the statement that compares the version of a row and takes the most time; null if there is none. */
    private @Nullable String version(String store) {
        return operations.each(Phase.SQL).entrySet().stream()
                .filter(entry -> OperationNames.store(entry.getKey()).equals(store)
                        && VERSION.matcher(entry.getKey()).matches())
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(null);
    }
}
