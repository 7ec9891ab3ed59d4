package tern.rpc.spring.autoconfigure.pool;

import java.util.Locale;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Removes parameter values from SQL statements, so that diagnoses can show the statements. Thread-safe. */
final class StatementText {

    /**
     * The maximum length of a returned statement, in characters. A longer statement is shortened in two steps. First,
     * only the first column of each list of columns is kept. If the statement is still too long, its middle is omitted.
     * The end is kept, because it contains the table, the condition and words such as "for update". These are the parts
     * in which statements for the same entity differ.
     */
    private static final int MAX_LENGTH = 200;

    /** The number of characters kept at the end of a statement whose middle is omitted. */
    private static final int END_LENGTH = 80;

    private static final String LEFT_OUT = ", ...";

    private static final int MAX_INPUT = 4_000;
    private static final int MAX_CACHED = 1_024;
    private static final ConcurrentMap<String, String> CACHE = new ConcurrentHashMap<>();

    private static final Pattern COMMENTS = Pattern.compile("/\\*.*?\\*/|--[^\\n]*", Pattern.DOTALL);
    private static final Pattern STRINGS = Pattern.compile("'(?:[^']|'')*+(?:'|$)");
    private static final Pattern NUMBERS = Pattern.compile("(?<![\\w.])-?\\d[\\w.]*");

    // The group has a possessive quantifier. Otherwise, the matcher would call itself for each element, and a list with
    // thousands of elements would overflow the stack of the application's thread.
    private static final Pattern LISTS = Pattern.compile("\\?(?:\\s*+,\\s*+\\?)++");

    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private StatementText() {}

    /** Returns the statement with {@code ?} in place of each value, or null if {@code sql} is null. */
    static @Nullable String of(@Nullable String sql) {
        if (sql == null) {
            return null;
        }
        String known = CACHE.get(sql);
        if (known != null) {
            return known;
        }
        String text = withoutValues(sql);
        if (CACHE.size() < MAX_CACHED && sql.length() <= MAX_INPUT) {
            CACHE.put(sql, text);
        }
        return text;
    }

    private static String withoutValues(String sql) {
        String text = sql.length() <= MAX_INPUT ? sql : sql.substring(0, MAX_INPUT);
        text = COMMENTS.matcher(text).replaceAll(" ");
        text = STRINGS.matcher(text).replaceAll("?");
        text = NUMBERS.matcher(text).replaceAll("?");
        text = LISTS.matcher(text).replaceAll("?, ...");
        text = BLANKS.matcher(text).replaceAll(" ").strip();
        return text.length() <= MAX_LENGTH ? text : withoutMiddle(withoutColumns(text));
    }

    private static String withoutMiddle(String text) {
        return text.length() <= MAX_LENGTH
                ? text
                : text.substring(0, MAX_LENGTH - END_LENGTH) + " ... " + text.substring(text.length() - END_LENGTH);
    }

    /** Removes all columns but the first from the column lists of SELECT, INSERT and UPDATE. */
    private static String withoutColumns(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        if (lower.length() != text.length()) {
            return text; // some letters change length in lower case, which would shift the positions
        }
        int end;
        if (lower.startsWith("insert")) {
            int open = lower.indexOf('(');
            end = open < 0 ? -1 : lower.indexOf(')', open);
        } else {
            end = atTopLevel(lower, lower.startsWith("update") ? " where " : " from ");
        }
        int comma = lower.startsWith("insert") ? lower.indexOf(',') : atTopLevel(lower, ",");
        return comma < 0 || end < comma ? text : text.substring(0, comma) + LEFT_OUT + text.substring(end);
    }

    /** Returns the first position at which {@code wanted} occurs outside of parentheses; -1 if there is none. */
    private static int atTopLevel(String statement, String wanted) {
        int depth = 0;
        for (int i = 0; i < statement.length(); i++) {
            char at = statement.charAt(i);
            depth += at == '(' ? 1 : at == ')' ? -1 : 0;
            if (depth == 0 && statement.startsWith(wanted, i)) {
                return i;
            }
        }
        return -1;
    }
}
