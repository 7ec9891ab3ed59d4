package tern.rpc.pool;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The states of failed statements. PostgreSQL reports a conflict of transactions under the state that other databases
 * use for deadlocks. Some databases have their own state for such a conflict. Conflicts and deadlocks need different
 * changes, so a conflict is recognized by its message.
 */
public final class SqlStates {

    /**
     * Replaces the database's own state of a statement that failed because another transaction had changed the same
     * rows.
     */
    public static final String CONFLICT = "CONFLICT";

    private static final Pattern CONFLICTS = Pattern.compile(
            "could not serialize|can't serialize|restart transaction:|update conflict|Record has changed since last read"
                    + "|Concurrent update in table");

    private SqlStates() {}

    /** Returns the SQL state of a failure, or {@link #CONFLICT}; empty if the state is unknown. */
    public static String of(@Nullable String state, @Nullable String message) {
        if (message != null && CONFLICTS.matcher(message).find()) {
            return CONFLICT;
        }
        return state == null ? "" : state;
    }
}
