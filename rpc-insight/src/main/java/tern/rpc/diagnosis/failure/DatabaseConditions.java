package tern.rpc.diagnosis.failure;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part;

/**
 * Recognizes errors that concern the database server or the connection to it, and not the statement that failed. For
 * example, the server refuses or closes a connection.
 */
final class DatabaseConditions {

    /**
     * @param state matches the SQL states of this condition
     * @param message matches the messages of servers that report the condition under a general state
     */
    private record Condition(Pattern state, Pattern message, String text) {

        static Condition of(String state, String message, String text) {
            return new Condition(Pattern.compile(state), Pattern.compile(message, Pattern.CASE_INSENSITIVE), text);
        }
    }

    /** A pattern that matches no message. */
    private static final String NONE = "(?!)";

    // H2 reports a lost connection under the state 90067.
    private static final Condition LOST = Condition.of("08(?!003)...|90067", NONE, Part.LOST);

    /** The SQL state if code uses a connection that it has closed itself. */
    private static final String CLOSED_BY_CODE = "08003";

    // The first matching condition applies.
    private static final List<Condition> CONDITIONS = List.of(
            Condition.of(
                    "53300",
                    "too many connections|max_user_connections|connection slots are reserved|too many clients"
                            + "|maximum number of (?:sessions|processes)",
                    "too many connections"),
            // MySQL and MariaDB report this under state 42000, which otherwise means a wrong statement. Oracle reports
            // it
            // with the name of the limit in the user's profile.
            Condition.of(
                    NONE,
                    "has exceeded the '\\w{1,64}' resource|exceeded \\S{1,64} limit on \\S{1,64} usage",
                    "limit of the user reached"),
            Condition.of(
                    "28...",
                    "access denied for user|password authentication failed|invalid username/password"
                            + "|login failed for user",
                    "login refused"),
            Condition.of("57P0[123]", NONE, "starting or shutting down"),
            Condition.of(
                    "53100",
                    "the table \\S{1,200} is full|no space left on device|errcode: 28\\b|error 28\\b|could not extend file"
                            + "|unable to extend (?:table|index|segment|lob)",
                    "disk full"),
            // If a packet is too large, the server closes the connection, and the driver reports a lost connection.
            // Therefore this condition is checked before the lost connection.
            Condition.of(NONE, "max_allowed_packet", "packet too large"),
            Condition.of(NONE, "--(?:super-)?read-only", "read-only"),
            LOST);

    private DatabaseConditions() {}

    /**
     * Returns the condition of the database that one of the given exceptions reports, with its SQL state; null if there
     * is none.
     */
    static @Nullable String of(List<Throwable> chain) {
        for (Throwable one : chain) {
            if (one instanceof SQLException sql) {
                String state = sql.getSQLState() == null ? "" : sql.getSQLState();
                String message = String.valueOf(sql.getMessage());
                for (Condition condition : CONDITIONS) {
                    if (condition.state.matcher(state).matches()
                            || condition.message.matcher(message).find()) {
                        return condition.equals(LOST) ? lost(chain, state) : shown(condition, state);
                    }
                }
                if (one instanceof SQLNonTransientConnectionException && !state.equals(CLOSED_BY_CODE)) {
                    return lost(chain, state);
                }
            }
        }
        return null;
    }

    private static String lost(List<Throwable> chain, String state) {
        return hasTimedOut(chain) ? Part.SILENT : shown(LOST, state);
    }

    /**
     * Returns whether the connection was closed because the database did not answer in time. Drivers report this with
     * the same SQL state as a connection that the database has closed.
     */
    private static boolean hasTimedOut(List<Throwable> chain) {
        return chain.stream().anyMatch(SocketTimeoutException.class::isInstance);
    }

    /** Returns the condition of the database that the given SQL state reports; null if there is none. */
    static @Nullable String ofState(String state) {
        return CONDITIONS.stream()
                .filter(condition -> condition.state.matcher(state).matches())
                .findFirst()
                .map(condition -> shown(condition, state))
                .orElse(null);
    }

    private static String shown(Condition condition, String state) {
        return condition.text + (state.isEmpty() ? "" : " (" + state + ")");
    }
}
