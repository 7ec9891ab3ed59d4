package tern.rpc.diagnosis.sample;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.ApplicationFrames;
import tern.rpc.pool.Holders.Holder;
import tern.rpc.pool.StoreNames;

/** Recognizes from a statement's text its table and the locks that it takes. */
public final class Statements {

    private static final String COMMIT = "commit";

    /** Matches the name of a statement's first table. The name may be quoted, and a schema may precede it. */
    private static final Pattern TABLE = Pattern.compile(
            "\\b(?:update|into|from|join|tables?|truncate|vacuum|on)\\s+(?:(?:table|only|if\\s+exists)\\s+)*"
                    + "([\\w.\"`\\[\\]]+)");

    /** Matches statements that lock a whole table. */
    private static final Pattern TABLE_LOCKS =
            Pattern.compile("^(?:alter|lock|truncate|drop|create|vacuum|reindex|optimize|rename)\\b");

    private static final Pattern NAMED_LOCKS = Pattern.compile("advisory_(?:xact_)?lock|\\bget_lock\\s*\\(|dbms_lock");

    /** Matches SQL clauses that lock the selected rows, such as FOR UPDATE. */
    private static final List<String> LOCKING_READS = List.of(
            "for update",
            "for no key update",
            "for share",
            "for key share",
            "lock in share mode",
            "(updlock",
            "(xlock");

    private Statements() {}

    /** Returns the first table of the statement in lower case, without quotes and schema; null if there is none. */
    public static @Nullable String table(String statement) {
        Set<String> tables = tables(statement);
        return tables.isEmpty() ? null : tables.iterator().next();
    }

    /** Returns the tables of the statement in lower case, without quotes and schemas, in their order in the text. */
    public static Set<String> tables(String statement) {
        Set<String> tables = new LinkedHashSet<>();
        Matcher matcher = TABLE.matcher(statement.toLowerCase(Locale.ROOT));
        while (matcher.find()) {
            String name = matcher.group(1).replaceAll("[\"`\\[\\]]", "");
            tables.add(name.substring(name.lastIndexOf('.') + 1));
        }
        return tables;
    }

    /** Returns whether the given statement changes or locks rows, or ends a transaction. */
    public static boolean isWrite(String statement) {
        return StoreNames.without(statement).equals(COMMIT) || writes(statement.toLowerCase(Locale.ROOT));
    }

    /** Returns whether the given statement may wait for a row lock, for a named lock, or for the database's log. */
    public static boolean mayWait(String statement) {
        return isWrite(statement) || isNamedLock(statement);
    }

    /** Returns whether a statement in lower case writes or locks rows. */
    public static boolean writes(String statement) {
        return statement.startsWith("update")
                || statement.startsWith("delete")
                || statement.startsWith("insert")
                || statement.startsWith("merge")
                || statement.startsWith("replace")
                || LOCKING_READS.stream().anyMatch(statement::contains);
    }

    /** Returns whether a lower-case statement only adds rows and does not change existing ones. */
    public static boolean addsRows(String statement) {
        return statement.startsWith("insert")
                && !statement.contains("on conflict")
                && !statement.contains("on duplicate key")
                && LOCKING_READS.stream().noneMatch(statement::contains);
    }

    /** Returns whether the statement locks a whole table. */
    public static boolean locksTable(String statement) {
        return TABLE_LOCKS.matcher(statement.toLowerCase(Locale.ROOT)).find();
    }

    /** Returns whether the statement takes a lock that the application names. */
    public static boolean isNamedLock(String statement) {
        return NAMED_LOCKS.matcher(statement.toLowerCase(Locale.ROOT)).find();
    }

    /** Returns text about the current activity of the thread that holds the connection. */
    public static String now(Holder holder) {
        String place = place(holder);
        return place.isEmpty() ? "" : "; thread " + holder.thread().getName() + " is in " + place;
    }

    /** Returns the application code that the holder's thread is running; empty if it is running none. */
    public static String place(Holder holder) {
        return place(holder.thread().getStackTrace());
    }

    /** Returns the innermost application code on a stack, and the code that called it; empty if there is none. */
    public static String place(StackTraceElement[] frames) {
        List<StackTraceElement> path = ApplicationFrames.of(frames).all();
        if (path.isEmpty()) {
            return "";
        }
        StackTraceElement caller = StackReader.callerOf(path.get(0), path);
        return ApplicationCode.shown(path.get(0))
                + (caller == null ? "" : ", called from " + ApplicationCode.shown(caller));
    }
}
