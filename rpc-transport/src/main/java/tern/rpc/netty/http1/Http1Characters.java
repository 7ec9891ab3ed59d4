package tern.rpc.netty.http1;

import io.netty.util.AsciiString;

/** Checks the characters of HTTP/1.1 request lines and headers (RFC 9110, 5.6.2 and 5.5; RFC 9112, 3.2). */
final class Http1Characters {

    private static final boolean[] TOKEN = table("!#$%&'*+-.^_`|~");
    private static final boolean[] TARGET = table("!$%&'()*+,-./:;=?@_~[]|\"<>\\^`{}");
    private static final boolean[] HOST = table("-._~%!$&'()*+,;=:[]");

    private Http1Characters() {}

    /** Returns a table that contains letters, digits and the given characters. */
    private static boolean[] table(String others) {
        boolean[] table = new boolean[128];
        for (int i = 0; i < table.length; i++) {
            table[i] = others.indexOf(i) >= 0 || Character.isLetterOrDigit(i);
        }
        return table;
    }

    private static boolean consistsOf(boolean[] table, AsciiString text) {
        for (int i = 0; i < text.length(); i++) {
            byte character = text.byteAt(i);
            if (character < 0 || !table[character]) {
                return false;
            }
        }
        return !text.isEmpty();
    }

    /** Returns whether the string is valid as a method or as the name of a header field. */
    static boolean isToken(AsciiString text) {
        return consistsOf(TOKEN, text);
    }

    /**
     * Returns whether the string is valid as a path with a query. Accepts some characters that clients should
     * percent-encode but often do not.
     */
    static boolean isTarget(AsciiString text) {
        return consistsOf(TARGET, text);
    }

    static boolean isHost(AsciiString text) {
        return consistsOf(HOST, text);
    }

    /** Returns whether the string is valid as a field value, that is, contains no control characters except tabs. */
    static boolean isValue(AsciiString text) {
        for (int i = 0; i < text.length(); i++) {
            int character = text.byteAt(i) & 0xFF;
            if ((character < ' ' && character != '\t') || character == 0x7F) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the rest of the line after the given index, without leading and trailing spaces and tabs. RFC 9112 does
     * not allow other whitespace to be removed.
     */
    static AsciiString withoutSpace(AsciiString line, int start) {
        int first = start;
        int end = line.length();
        while (first < end && isSpace(line.byteAt(first))) {
            first++;
        }
        while (end > first && isSpace(line.byteAt(end - 1))) {
            end--;
        }
        return line.subSequence(first, end);
    }

    private static boolean isSpace(byte character) {
        return character == ' ' || character == '\t';
    }
}
