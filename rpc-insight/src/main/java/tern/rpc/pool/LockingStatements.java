package tern.rpc.pool;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Recognizes statements that may lock rows or tables until the end of their transaction. */
final class LockingStatements {

    /**
     * For each known statement text, whether the statement may lock something. The results are cached, because an
     * application runs the same statements repeatedly.
     */
    private static final Map<String, Boolean> KNOWN = new ConcurrentHashMap<>();

    private static final int MAX_KNOWN = 1_024;

    private LockingStatements() {}

    /**
     * Returns whether the statement may lock something. This method is called for every statement of the application,
     * so it must be quick. Therefore it also returns true for some statements that lock nothing.
     */
    static boolean mayLock(String statement) {
        Boolean known = KNOWN.get(statement);
        if (known != null) {
            return known;
        }
        boolean locks = !statement.isEmpty() && locks(statement);
        if (KNOWN.size() < MAX_KNOWN) {
            KNOWN.put(statement, locks);
        }
        return locks;
    }

    private static boolean locks(String statement) {
        return switch (statement.charAt(0)) {
            case 'u', 'U', 'd', 'D', 'i', 'I', 'm', 'M', 'r', 'R', 'l', 'L', 'a', 'A', 't', 'T' -> true;
            case 's', 'S', 'w', 'W', '(' -> locksRowsThatItReads(statement);
            default -> false;
        };
    }

    private static boolean locksRowsThatItReads(String statement) {
        for (int i = 0; i < statement.length(); i++) {
            char letter = statement.charAt(i);
            if ((letter == 'f' || letter == 'F') && statement.regionMatches(true, i, "for ", 0, 4)) {
                return true;
            }
            if ((letter == 'l' || letter == 'L') && statement.regionMatches(true, i, "lock in ", 0, 8)) {
                return true;
            }
        }
        return isOfNamedLock(statement)
                || statement.contains("updlock")
                || statement.contains("UPDLOCK")
                || statement.contains("xlock")
                || statement.contains("XLOCK");
    }

    /** Returns whether the statement takes or releases a lock that the application names itself. */
    private static boolean isOfNamedLock(String statement) {
        return statement.contains("advisory_")
                || statement.contains("get_lock")
                || statement.contains("GET_LOCK")
                || releases(statement);
    }

    private static boolean releases(String statement) {
        return statement.contains("advisory_unlock")
                || statement.contains("release_lock")
                || statement.contains("RELEASE_LOCK");
    }

    /** Returns whether the locks of the transaction end with the given statement. */
    static boolean endsLocks(String statement) {
        return statement.startsWith("commit")
                || statement.startsWith("rollback")
                || (statement.startsWith("select") && releases(statement))
                || (statement.startsWith("SELECT") && releases(statement));
    }
}
