package tern.rpc.spring.autoconfigure.pool;

import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.NamedTimes;
import tern.rpc.pool.SqlStates;

/**
 * Creates the names of statements and commands that failed, such as {@code update stock (failed 40001)}. The diagnosis
 * then finds the failed operations in the call's ledger even if the call's own code handles the exceptions, for example
 * by a retry.
 */
final class FailedName {

    /** SQL state classes for wrong or duplicate data. Applications often expect such failures. */
    private static final Set<String> EXPECTED_STATES = Set.of("22", "23");

    /** The SQL state of a statement that was cancelled, in most cases because of its timeout. */
    private static final String CANCELLED = "57014";

    /** Redis errors that client libraries or applications expect. */
    private static final Set<String> EXPECTED_ERRORS = Set.of("NOSCRIPT", "BUSYGROUP", "MOVED", "ASK", "WRONGTYPE");

    /** Part of the error message of a Redis client whose connection pool has no free connection. */
    private static final String NO_RESOURCE = "Could not get a resource";

    private static final Pattern STATE = Pattern.compile("[0-9A-Z]{5}");
    private static final Pattern REDIS_ERROR = Pattern.compile("(?:^|[: ])([A-Z]{3,12}) ");
    private static final int MAX_CAUSES = 8;

    private FailedName() {}

    /**
     * Appends {@code (failed)} or the SQL state to the name of a statement that ended with an exception. Returns the
     * name unchanged in three cases. A statement that timed out was slow but did not fail. A statement whose data the
     * database rejected is often expected to fail. A rollback fails only because an earlier failure has closed its
     * connection.
     */
    static @Nullable String ofStatement(@Nullable String statement, Throwable failure) {
        return ofStatement(statement, failure instanceof SQLException sql ? sql.getSQLState() : null, failure);
    }

    /**
     * Returns the same name as {@link #ofStatement(String, Throwable)}, for a failure whose SQL state may be known.
     *
     * @param state the SQL state of the failure; null if it is unknown
     */
    static @Nullable String ofStatement(@Nullable String statement, @Nullable String state, Throwable failure) {
        if (statement == null || NamedTimes.isRollback(statement) || CANCELLED.equals(state) || isTimeOut(failure)) {
            return statement;
        }
        String known = SqlStates.of(state, failure.getMessage());
        if (!known.equals(SqlStates.CONFLICT) && !STATE.matcher(known).matches()) {
            return statement + " (failed)";
        }
        return EXPECTED_STATES.contains(known.substring(0, 2)) ? statement : statement + " (failed " + known + ")";
    }

    /**
     * Appends {@code (failed)} or the error to the name of a Redis command that ended with an exception. Returns the
     * name unchanged if the command timed out, if no connection was free, or if applications often expect the error.
     */
    static @Nullable String ofCommand(@Nullable String command, Throwable failure) {
        if (command == null || isTimeOut(failure)) {
            return command;
        }
        String word = "";
        Throwable cause = failure;
        // Spring wraps the exceptions of Redis clients, so the causes are searched, too
        for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
            String message = cause.getMessage() == null ? "" : cause.getMessage();
            Matcher error = REDIS_ERROR.matcher(message);
            if (word.isEmpty() && error.find()) {
                word = error.group(1);
            }
            if (message.contains(NO_RESOURCE)) {
                return command;
            }
            cause = cause.getCause();
        }
        if (EXPECTED_ERRORS.contains(word)) {
            return command;
        }
        return command + (word.isEmpty() || word.equals("ERR") ? " (failed)" : " (failed " + word + ")");
    }

    private static boolean isTimeOut(Throwable failure) {
        Throwable cause = failure;
        for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
            String message =
                    cause.getMessage() == null ? "" : cause.getMessage().toLowerCase(Locale.ROOT);
            if (cause.getClass().getSimpleName().contains("Timeout")
                    || message.contains("timeout")
                    || message.contains("timed out")) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }
}
