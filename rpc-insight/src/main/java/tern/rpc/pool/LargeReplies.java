package tern.rpc.pool;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Marks the names of commands whose reply is large, for example {@code GET plan:* [over 1 MB]} or {@code HGETALL fleet
 * [over 10000 elements]}. A large reply delays all other commands on the same connection, and reading it fills the
 * heap. With the mark, the diagnosis can distinguish large replies from a slow server.
 */
public final class LargeReplies {

    private static final int MB = 1 << 20;

    /**
     * The sizes in MB that are added to the name of a command with a large reply, for example {@code [over 4 MB]}.
     * There are only a few sizes, because the diagnosis considers commands with different marks to be different
     * operations.
     */
    private static final int[] SIZES = {64, 16, 4, 1};

    /**
     * The numbers of elements that are added to the name of a command with a large reply, for example {@code [over
     * 10000 elements]}.
     */
    private static final int[] COUNTS = {1_000_000, 100_000, 10_000};

    private static final String ELEMENTS = "elements";

    /** The size in bytes that one element of a reply is assumed to have. */
    private static final long BYTES_OF_ELEMENT = 100;

    /** The maximum number of commands whose last large reply is remembered. */
    private static final int MAX_COMMANDS = 256;

    /** The marked names of commands whose last reply was large, by the name without the mark. */
    private static final ConcurrentMap<String, String> LAST = new ConcurrentHashMap<>();

    private static final Pattern MARK = Pattern.compile(" \\[over (\\d+) (MB|" + ELEMENTS + ")]");

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

    /**
     * Returns the name of a command, with a mark if its reply is large.
     *
     * @param reply the reply: a value, or a collection or map of values
     */
    public static String nameFor(String command, @Nullable Object reply) {
        if (reply instanceof byte[] || reply instanceof String) {
            return name(command, bytes(reply));
        }
        int elements = 0;
        long bytes = 0;
        if (reply instanceof Map<?, ?> map) {
            elements = map.size();
            bytes = bytes(map.keySet()) + bytes(map.values());
        } else if (reply instanceof Collection<?> values) {
            elements = values.size();
            bytes = bytes(values);
        }
        return nameFor(command, bytes, elements);
    }

    /**
     * Returns the name of a command, with a mark if its reply is large.
     *
     * @param elements the number of values in the reply
     */
    public static String nameFor(String command, long bytes, long elements) {
        String byBytes = name(command, bytes);
        if (!byBytes.equals(command)) {
            return byBytes;
        }
        for (int count : COUNTS) {
            if (elements >= count) {
                return command + " [over " + count + " " + ELEMENTS + "]";
            }
        }
        return command;
    }

    /**
     * Returns the name under which a command begins: the name with the mark of its last reply, if that was large. A
     * command that ends with a timeout then has the same name as the commands whose large replies arrive in time.
     *
     * @param command the name of the command, with its store if there are several; null if unknown
     */
    public static @Nullable String expected(@Nullable String command) {
        return command == null || LAST.isEmpty() ? command : LAST.getOrDefault(command, command);
    }

    /**
     * Remembers whether the reply of a command was large.
     *
     * @param command the name of the command without a mark; null if unknown
     * @param marked the same name, with a mark if the reply was large
     */
    public static void arrived(@Nullable String command, @Nullable String marked) {
        if (command == null || marked == null) {
            return;
        }
        if (!marked.equals(command)) {
            if (LAST.size() < MAX_COMMANDS || LAST.containsKey(command)) {
                LAST.put(command, marked);
            }
        } else if (!LAST.isEmpty()) {
            LAST.remove(command);
        }
    }

    private static long bytes(Collection<?> values) {
        long sum = 0;
        for (Object value : values) {
            sum += bytes(value);
        }
        return sum;
    }

    /** Returns the size of a value. A text counts as one byte per character, as most texts are read from ASCII. */
    private static long bytes(@Nullable Object value) {
        if (value instanceof String text) {
            return text.length();
        }
        return value instanceof byte[] bytes ? bytes.length : 0;
    }

    /** Returns the size in the name of a command, such as {@code over 1 MB}; empty if its reply is not large. */
    public static String sizeIn(String name) {
        Matcher mark = MARK.matcher(name);
        return mark.find() ? "over " + mark.group(1) + " " + mark.group(2) : "";
    }

    /** Returns about how many bytes the reply of a command with a mark has; 0 if its reply is not large. */
    public static double bytesIn(String name) {
        Matcher mark = MARK.matcher(name);
        if (!mark.find()) {
            return 0;
        }
        // The reply has at least the size in the mark, and usually less than the next larger size.
        return 2.0 * Long.parseLong(mark.group(1)) * (mark.group(2).equals(ELEMENTS) ? BYTES_OF_ELEMENT : MB);
    }

    /**
     * Returns the names of the same command with smaller replies, the largest first. The other names are needed because
     * the size in a command's name changes while its reply grows.
     */
    public static List<String> smaller(String name) {
        Matcher mark = MARK.matcher(name);
        if (!mark.find()) {
            return List.of();
        }
        List<String> names = new ArrayList<>();
        String unit = mark.group(2);
        int known = Integer.parseInt(mark.group(1));
        boolean isOfElements = unit.equals(ELEMENTS);
        for (int size : isOfElements ? COUNTS : SIZES) {
            if (size < known) {
                names.add(mark.replaceFirst(" [over " + size + " " + unit + "]"));
            }
        }
        if (!isOfElements) {
            for (int count : COUNTS) {
                names.add(mark.replaceFirst(" [over " + count + " " + ELEMENTS + "]"));
            }
        }
        names.add(mark.replaceFirst(""));
        return names;
    }
}
