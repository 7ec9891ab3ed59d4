package tern.rpc.diagnosis.excess;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.cause.Cause.Change;
import tern.rpc.diagnosis.cause.Cause.Where;
import tern.rpc.diagnosis.cause.CauseDescription;
import tern.rpc.diagnosis.sample.Statements;
import tern.rpc.pool.SqlStates;

/**
 * Finds deadlocks in the database, and conflicts of transactions. In a deadlock, the database ends a statement of one
 * transaction immediately, and the statements of the other transactions continue. If the application repeats the ended
 * transaction, the call usually succeeds, but late. Such a call has spent its time waiting for locks, or repeating
 * statements. This class therefore counts the ended statements in late and in failed calls.
 */
public final class Deadlocks {

    /** Deadlocks can be the cause of slow calls only if there are at least {@value} of them. */
    private static final int LEAST = 3;

    /**
     * Deadlocks can be the cause of slow calls only if at least one in {@value} late or failed calls met a deadlock.
     */
    private static final int ONE_OF = 5;

    /** The states of statements that a database ended because of a deadlock. */
    private static final Set<String> STATES = Set.of("40001", "40P01");

    private final ExcessTime excess;
    private final Operations operations;

    /** Returns whether the database ended the statement because of a deadlock or a conflict. */
    public static boolean isEnded(String statement) {
        String state = OperationNames.errorCode(statement);
        return state.equals(SqlStates.CONFLICT) || STATES.contains(state);
    }

    /**
     * Returns whether deadlocks or conflicts are frequent enough to explain why calls are late or fail. The required
     * share of calls is small: the ended statement takes little time, so the ledgers of many calls do not contain its
     * name.
     */
    static boolean areEnough(int calls, int all) {
        return calls >= LEAST && calls * ONE_OF >= all;
    }

    public Deadlocks(ExcessTime excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /** The statements of late or failed calls that were ended by the database. */
    private record Ended(long deadlocks, long conflicts, int calls, Set<String> statements) {

        long all() {
            return deadlocks + conflicts;
        }
    }

    private Ended endedOnServerOf(String statement) {
        long deadlocks = 0;
        long conflicts = 0;
        int calls = 0;
        Set<String> statements = new TreeSet<>();
        for (ExcessTime.Counted counted : excess.accounts) {
            long before = deadlocks + conflicts;
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                String state = OperationNames.errorCode(entry.name());
                boolean isConflict = state.equals(SqlStates.CONFLICT);
                if (entry.kind() == Phase.SQL
                        && (isConflict || STATES.contains(state))
                        && operations.areOfSameServer(entry.name(), statement)) {
                    deadlocks += isConflict ? 0 : entry.count();
                    conflicts += isConflict ? entry.count() : 0;
                    statements.add(OperationNames.withoutStatus(entry.name()));
                }
            }
            calls += deadlocks + conflicts > before ? 1 : 0;
        }
        return new Ended(deadlocks, conflicts, calls, statements);
    }

    /**
     * Returns the text for a slow statement if deadlocks or conflicts explain why it is slow; null otherwise. Deadlocks
     * slow down only statements that write. Conflicts also slow down statements that read, because code repeats the
     * whole transaction after a conflict.
     */
    @Nullable
    public CauseDescription of(String statement, String in, List<String> facts) {
        Ended ended = endedOnServerOf(statement);
        boolean areConflicts = ended.conflicts > ended.deadlocks;
        boolean writes = Statements.writes(statement.toLowerCase(Locale.ROOT));
        // A transaction with a conflict is repeated as a whole, so its reads also take longer if most calls repeat it.
        boolean areRepeated = areConflicts && 2 * ended.calls >= excess.accounts.size();
        if ((!writes && !areRepeated) || ended.all() < LEAST || ended.calls * ONE_OF < excess.accounts.size()) {
            return null;
        }
        List<String> all = new ArrayList<>(facts);
        all.add((areConflicts ? "conflict" : "deadlock") + " the database ended " + ended.all() + " statements of "
                + ended.calls + " of " + excess.accounts.size() + " recorded late or failed calls: "
                + String.join("; ", ended.statements));
        return areConflicts
                ? new CauseDescription(
                        "TRANSACTION CONFLICTS",
                        String.join("; ", ended.statements),
                        Change.of(
                                Where.CODE,
                                "make transactions shorter, change the same rows less often, lock these rows when they"
                                        + " are read (select ... for update), or use the isolation level READ"
                                        + " COMMITTED: the database ends transactions because others changed the"
                                        + " same rows, and the code repeats them; slow:"
                                        + " " + statement + in + "; a different pool size does not help"),
                        all)
                : new CauseDescription(
                        "ROW LOCK",
                        statement,
                        Change.of(
                                Where.CODE,
                                "lock rows in the same order in all transactions, and keep these transactions short:"
                                        + " the database ends statements because of deadlocks, and the code repeats"
                                        + " them; waiting: " + statement + in
                                        + "; a different pool size does not help"),
                        all);
    }
}
