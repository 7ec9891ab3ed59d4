package tern.rpc.spring.autoconfigure.pool;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Removes parameter values from SQL statements, so that diagnoses can show the statements. Thread-safe. */
final class StatementText {

    /**
     * The maximum length of a returned statement, in characters. Longer statements are truncated. Their beginning is
     * enough to identify them.
     */
    private static final int MAX_LENGTH = 200;

    private static final int MAX_INPUT = 4_000;
    private static final int MAX_CACHED = 1_024;
    private static final ConcurrentMap<String, String> CACHE = new ConcurrentHashMap<>();

    private static final Pattern COMMENTS = Pattern.compile("/\\*.*?\\*/|--[^\\n]*", Pattern.DOTALL);
    private static final Pattern STRINGS = Pattern.compile("'(?:[^']|'')*+(?:'|$)");
    private static final Pattern NUMBERS = Pattern.compile("(?<![\\w.])-?\\d[\\w.]*");
    private static final Pattern LISTS = Pattern.compile("\\?(?:\\s*,\\s*\\?)+");
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
        return text.length() <= MAX_LENGTH ? text : text.substring(0, MAX_LENGTH) + "...";
    }
}
