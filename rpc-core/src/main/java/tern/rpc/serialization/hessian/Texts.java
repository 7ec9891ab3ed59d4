package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;

/** What strangers sent, fit for a message or a log line. */
final class Texts {

    private static final int LONGEST = 200;

    private Texts() {}

    static String shortened(@Nullable String text) {
        if (text == null) {
            return "null";
        }
        String part = text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...";
        return part.codePoints()
                .map(point -> Character.isISOControl(point) ? '?' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }
}
