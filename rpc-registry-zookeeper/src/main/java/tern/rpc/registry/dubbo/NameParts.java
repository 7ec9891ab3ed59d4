package tern.rpc.registry.dubbo;

import org.jspecify.annotations.Nullable;

/**
 * The name of an interface-level node, which is split into the parts that differ between processes with the same
 * configuration, and the common text.
 *
 * @param startedAt the digits of the start time
 * @param common the encoded text without host, port and start time
 */
record NameParts(String host, String port, String startedAt, String common) {

    private static final String SCHEME_END = "%3A%2F%2F";
    private static final String COLON = "%3A";
    private static final String SLASH = "%2F";
    private static final String QUESTION_MARK = "%3F";
    private static final String AND = "%26";
    private static final String START = AND + ReadAttributes.TIMESTAMP + "%3D";

    /**
     * Splits a name.
     *
     * @return null if the parts can be found only in the decoded name, for example because the address contains a user
     *     or the start time is missing
     */
    static @Nullable NameParts of(String name) {
        int scheme = name.indexOf(SCHEME_END);
        int host = scheme + SCHEME_END.length();
        int colon = scheme < 0 ? -1 : name.indexOf(COLON, host);
        int path = colon < 0 ? -1 : name.indexOf(SLASH, colon);
        int query = path < 0 ? -1 : name.indexOf(QUESTION_MARK, path);
        int start = query < 0 ? -1 : name.indexOf(START, query);
        if (start < 0) {
            return null;
        }
        int digits = start + START.length();
        int and = name.indexOf(AND, digits);
        int end = and < 0 ? name.length() : and;
        StringBuilder common = new StringBuilder(name.length());
        common.append(name, 0, host).append(name, path, digits).append(name, end, name.length());
        NameParts parts = new NameParts(
                name.substring(host, colon),
                name.substring(colon + COLON.length(), path),
                name.substring(digits, end),
                common.toString());
        boolean isPlain = isPlain(name.substring(0, scheme))
                && isPlain(parts.host)
                && isPlain(parts.port)
                && isPlain(parts.startedAt);
        return isPlain && name.indexOf(START, end) < 0 ? parts : null;
    }

    /** Returns whether the text is not empty and contains nothing that must be decoded. */
    private static boolean isPlain(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            if (!letter && !(c >= '0' && c <= '9') && c != '.' && c != '-') {
                return false;
            }
        }
        return !text.isEmpty();
    }
}
