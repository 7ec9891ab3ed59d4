package tern.rpc.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.Cause.Change;
import tern.rpc.diagnosis.Cause.Where;

/**
 * Finds deadlocks in the database. The database ends one statement at once, and the statements of the other
 * transactions go on. If the application repeats the ended transaction, the call succeeds in the end. The call is then
 * slow because of statements that waited and succeeded.
 */
final class Deadlocks {

    /** Deadlocks explain slow calls only if there were at least this many. */
    private static final int LEAST = 3;

    /** Deadlocks explain slow calls only if at least one in this number of late or failed calls ran into a deadlock. */
    private static final int ONE_OF = 5;

    /** The states of statements that a database ended because of a deadlock or a conflict of transactions. */
    private static final Set<String> STATES = Set.of("40001", "40P01");

    private final Excess excess;
    private final Operations operations;

    Deadlocks(Excess excess, Operations operations) {
        this.excess = excess;
        this.operations = operations;
    }

    /**
     * Returns the text that names deadlocks as the cause of a slow statement that writes, if the calls ran into
     * deadlocks; null otherwise.
     */
    @Nullable
    Told of(String statement, String in, List<String> facts) {
        if (!DatabaseLocks.writes(statement.toLowerCase(Locale.ROOT))) {
            return null;
        }
        long ended = 0;
        int calls = 0;
        boolean isOnlyConflict = true;
        Set<String> statements = new TreeSet<>();
        for (Excess.Counted counted : excess.accounts) {
            long inCall = 0;
            for (NamedTimes.Entry entry : counted.call().ledger().named()) {
                if (isDeadlock(entry) && operations.areOfSameServer(entry.name(), statement)) {
                    inCall += entry.count();
                    isOnlyConflict &= "40001".equals(OperationNames.errorCode(entry.name()));
                    statements.add(OperationNames.withoutStatus(entry.name()));
                }
            }
            ended += inCall;
            calls += inCall > 0 ? 1 : 0;
        }
        if (ended < LEAST || calls * ONE_OF < excess.accounts.size()) {
            return null;
        }
        List<String> all = new ArrayList<>(facts);
        all.add("deadlock the database ended " + ended + " statements of " + calls + " of " + excess.accounts.size()
                + " recorded late or failed calls: " + String.join("; ", statements));
        return new Told(
                "ROW LOCK",
                statement,
                Change.of(
                        Where.CODE,
                        "lock rows in the same order in all transactions, and keep these transactions short:"
                                + " the database ends statements because of deadlocks, and the code repeats them"
                                + (isOnlyConflict
                                        ? " (in PostgreSQL, 40001 is a conflict of serializable transactions)"
                                        : "")
                                + ";"
                                + " waiting: "
                                + statement + in + "; no pool size helps"),
                all);
    }

    private static boolean isDeadlock(NamedTimes.Entry entry) {
        return entry.kind() == Phase.SQL
                && OperationNames.isFailing(entry.name())
                && STATES.contains(OperationNames.errorCode(entry.name()));
    }
}
