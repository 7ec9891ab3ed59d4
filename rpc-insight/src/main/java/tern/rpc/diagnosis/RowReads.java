package tern.rpc.diagnosis;

import java.util.Set;
import java.util.function.Predicate;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes calls that mostly wait for the next rows of a result. Either the driver fetches few rows at a time, or the
 * server finds the rows slowly.
 */
final class RowReads {

    /** The methods of a result set that move to other rows. */
    private static final Set<String> MOVES = Set.of("next", "absolute", "relative", "last", "previous");

    /** Drivers whose results come as one stream of the server, so that a fetch size changes little. */
    private static final String SQL_SERVER = "com.microsoft.sqlserver.";

    /** A word in the classes of MySQL and MariaDB for such a stream. A larger fetch size would end it. */
    private static final String STREAM = "Streaming";

    private RowReads() {}

    /**
     * Returns whether the thread waits for the server while it moves to another row of a result. Returns false for a
     * result that the server sends as one stream.
     */
    static boolean waits(ThreadLook thread) {
        if (thread.computes()) {
            return false;
        }
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.startsWith(SQL_SERVER) || type.contains(STREAM)) {
                return false;
            }
            if (type.contains("ResultSet") && MOVES.contains(frame.getMethodName())) {
                return true;
            }
            if (application.test(type)) {
                return false;
            }
        }
        return false;
    }
}
