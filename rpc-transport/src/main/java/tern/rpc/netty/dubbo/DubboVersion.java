package tern.rpc.netty.dubbo;

import org.jspecify.annotations.Nullable;

/** The protocol version at the beginning of a request (docs/wire-protocol.md 1.8). */
final class DubboVersion {

    /** The protocol version that Tern sends. Dubbo sends the same version. */
    static final String OURS = "2.0.2";

    private static final int MIN_WITH_ATTACHMENTS = 2_000_200;
    private static final int MAX_WITH_ATTACHMENTS = 2_009_900;

    private DubboVersion() {}

    /** Returns whether a caller with this version can read attachments in answers. */
    static boolean takesResponseAttachments(@Nullable String version) {
        if (OURS.equals(version)) {
            return true;
        }
        int number = number(version);
        return number >= MIN_WITH_ATTACHMENTS && number <= MAX_WITH_ATTACHMENTS;
    }

    /**
     * Converts the version to a number: the leading digits of each part, weighted by powers of 100. If the version has
     * exactly three parts, the result is also multiplied by 100.
     */
    private static int number(@Nullable String version) {
        if (version == null || version.isEmpty() || version.length() > 32) {
            return -1;
        }
        String[] parts = version.split("\\.", -1);
        long number = 0;
        for (String part : parts) {
            number = number * 100 + leadingDigits(part);
        }
        return (int) Math.min(Integer.MAX_VALUE, parts.length == 3 ? number * 100 : number);
    }

    private static int leadingDigits(String part) {
        int value = 0;
        for (int i = 0; i < Math.min(6, part.length()) && Character.isDigit(part.charAt(i)); i++) {
            value = value * 10 + Character.digit(part.charAt(i), 10);
        }
        return value;
    }
}
