package tern.rpc.diagnosis.stack;

import java.util.Set;
import java.util.function.Predicate;
import tern.rpc.pool.ApplicationCode;

/**
 * Recognizes calls that mostly wait for the next rows of a result. Calls wait for rows if the driver fetches few rows
 * at a time, or if the server finds the rows slowly.
 */
public final class RowReads {

    /** The methods of a result set that move to other rows. */
    private static final Set<String> MOVES = Set.of("next", "absolute", "relative", "last", "previous");

    /** The driver for SQL Server. Its results arrive as one stream, so the fetch size has little effect. */
    private static final String SQL_SERVER = "com.microsoft.sqlserver.";

    /**
     * A part of the name of each MySQL or MariaDB class that streams a result. These classes need no larger fetch size.
     */
    private static final String STREAM = "Streaming";

    private RowReads() {}

    /**
     * Returns whether the thread is waiting for the server while it moves to another row of a result. Returns false for
     * a result that the server sends as one stream.
     */
    public static boolean waits(ThreadSnapshot thread) {
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
