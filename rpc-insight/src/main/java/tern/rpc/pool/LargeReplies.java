package tern.rpc.pool;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Marks the names of commands whose reply is large, as in {@code GET plan:* [over 1 MB]}. A large reply delays all
 * other commands on the same connection, so the diagnosis must distinguish it from a slow server.
 */
public final class LargeReplies {

    private static final int MB = 1 << 20;

    /** The marked sizes in MB. There are only few, because the diagnosis treats each name as a separate operation. */
    private static final int[] SIZES = {64, 16, 4, 1};

    private static final Pattern MARK = Pattern.compile(" \\[over (\\d+) MB]");

    private LargeReplies() {}

    /**
     * Returns the name of a command, with a mark if its reply is large.
     *
     * @param bytes the size of the reply
     */
    public static String name(String command, long bytes) {
        for (int size : SIZES) {
            if (bytes >= (long) size * MB) {
                return command + " [over " + size + " MB]";
            }
        }
        return command;
    }

    /** Returns the size in the name of a command, such as {@code over 1 MB}; empty if its reply is not large. */
    public static String sizeIn(String name) {
        Matcher mark = MARK.matcher(name);
        return mark.find() ? "over " + mark.group(1) + " MB" : "";
    }
}
