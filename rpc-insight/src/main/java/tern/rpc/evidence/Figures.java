package tern.rpc.evidence;

/** Parses numbers in the kernel's text files. Every method returns {@value #MISSING} if the number is missing. */
final class Figures {

    static final long MISSING = -1;

    private Figures() {}

    /**
     * Returns the number that follows a name at the start of a line, for example {@code nr_periods 12} or {@code VmRSS:
     * 12 kB}.
     */
    static long named(String text, String name) {
        String value = textAfter(text, name);
        int end = 0;
        while (end < value.length() && isDigit(value.charAt(end))) {
            end++;
        }
        return number(value.substring(0, end));
    }

    /**
     * Returns the text after the name in the first line that begins with the name; an empty string if there is no such
     * line.
     */
    static String textAfter(String text, String name) {
        int at = text.indexOf(name);
        while (at >= 0) {
            int end = at + name.length();
            boolean startsLine = at == 0 || text.charAt(at - 1) == '\n';
            if (startsLine && end < text.length() && isSeparator(text.charAt(end))) {
                return restOfLine(text, end);
            }
            at = text.indexOf(name, end);
        }
        return "";
    }

    /**
     * Returns a value from a table that consists of a line of names and a line of numbers, for example {@code
     * /proc/net/snmp}.
     */
    static long inTable(String text, String table, String column) {
        String names = textAfter(text, table);
        int second = text.indexOf("\n" + table + ":", Math.max(0, text.indexOf(names)));
        if (names.isEmpty() || second < 0) {
            return MISSING;
        }
        String[] columns = names.split(" ");
        String[] figures = textAfter(text.substring(second + 1), table).split(" ");
        for (int i = 0; i < Math.min(columns.length, figures.length); i++) {
            if (columns[i].equals(column)) {
                return number(figures[i]);
            }
        }
        return MISSING;
    }

    /** Returns the number at a zero-based index in a space-separated line of numbers. */
    static long field(String line, int index) {
        String[] fields = line.strip().split("\\s+");
        return index < fields.length ? number(fields[index]) : MISSING;
    }

    static long number(String text) {
        try {
            return Math.max(MISSING, Long.parseLong(text.strip()));
        } catch (NumberFormatException e) {
            return MISSING;
        }
    }

    /** Returns the number multiplied by the factor of its unit. */
    static long times(long figure, long factor) {
        return figure < 0 ? MISSING : figure * factor;
    }

    /** Returns the size of a set that is written as ranges, such as {@code 0-3,8}. */
    static int sizeOfSet(String set) {
        int size = 0;
        for (String range : set.strip().split(",")) {
            int dash = range.indexOf('-');
            long first = number(dash < 0 ? range : range.substring(0, dash));
            long last = dash < 0 ? first : number(range.substring(dash + 1));
            if (first < 0 || last < first) {
                return (int) MISSING;
            }
            size += (int) (last - first + 1);
        }
        return size;
    }

    private static String restOfLine(String text, int start) {
        int from = start;
        while (from < text.length() && isSeparator(text.charAt(from)) && text.charAt(from) != '\n') {
            from++;
        }
        int to = text.indexOf('\n', from);
        return text.substring(from, to < 0 ? text.length() : to).strip();
    }

    private static boolean isSeparator(char c) {
        return c == ' ' || c == '\t' || c == ':';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
