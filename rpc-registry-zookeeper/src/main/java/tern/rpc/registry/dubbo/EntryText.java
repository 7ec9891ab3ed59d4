package tern.rpc.registry.dubbo;

import org.jspecify.annotations.Nullable;

/**
 * The JSON text of an application-level entry, which is split into the parts that differ between processes with the
 * same configuration, and the common text. This class searches for quoted member names. In valid JSON, such a name
 * cannot occur inside a string, because quotation marks inside strings are escaped.
 *
 * @param startedAt the digits of the start time; empty if the text has no start time
 * @param common the text without the address, the ids and the times
 */
record EntryText(String host, String startedAt, String common) {

    /**
     * The maximum length of a text that is split. The length is limited, because the texts that several processes share
     * are kept in memory.
     */
    private static final int MAX_LENGTH = 4 * 1024;

    private static final String HOST = "\"address\":\"";
    private static final String STARTED_AT = "\"" + ProcessEntry.TIMESTAMP + "\":\"";

    /** The JSON text before the time of the registration, which is a number. */
    private static final String REGISTERED_AT = "\"registrationTimeUTC\":";

    /** The JSON text before the id of the entry and before the id of its payload. */
    private static final String ID = "\"id\":\"";

    private static final int MAX_IDS = 2;

    /**
     * Splits a text.
     *
     * @return null if the text must be parsed completely, for example because it contains two addresses or an escape
     */
    static @Nullable EntryText of(String json) {
        if (json.length() > MAX_LENGTH || json.contains("\\u")) {
            return null;
        }
        Splitter text = new Splitter(json);
        String host = text.cut(HOST, '"', 1);
        String startedAt = text.cut(STARTED_AT, '"', 1);
        String registeredAt = text.cut(REGISTERED_AT, ',', 1);
        String id = text.cut(ID, '"', MAX_IDS);
        return host == null || startedAt == null || registeredAt == null || id == null || !isNumber(registeredAt)
                ? null
                : new EntryText(host, startedAt, text.rest());
    }

    private static boolean isNumber(String text) {
        return text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** Removes the values of JSON members from a text. */
    private static final class Splitter {

        private final StringBuilder rest;

        Splitter(String json) {
            this.rest = new StringBuilder(json);
        }

        /**
         * Removes the value after each occurrence of a name from the text.
         *
         * @return the last value; empty if there is none. Null if a value would have to be decoded, or if there are
         *     more than {@code most} values
         */
        @Nullable
        String cut(String name, char end, int most) {
            String value = "";
            int found = 0;
            for (int at = rest.indexOf(name); at >= 0; at = rest.indexOf(name, at)) {
                int from = at + name.length();
                int to = endOfPlain(from);
                if (++found > most || to == from || to == rest.length() || rest.charAt(to) != end) {
                    return null;
                }
                value = rest.substring(from, to);
                rest.delete(from, to);
                at = from;
            }
            return value;
        }

        /**
         * Returns the position after the plain value that begins at the given position. A plain value needs no
         * decoding.
         */
        private int endOfPlain(int from) {
            int to = from;
            while (to < rest.length() && isPlain(rest.charAt(to))) {
                to++;
            }
            return to;
        }

        private static boolean isPlain(char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= ':') || c == '.' || c == '-';
        }

        String rest() {
            return rest.toString();
        }
    }
}
