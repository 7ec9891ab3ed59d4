package tern.rpc.spring.autoconfigure.pool;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Creates names of Redis commands for diagnoses. A name contains the pattern of the command's key, as in
 * {@code GET user:*}.
 */
final class KeyPattern {

    private static final int MAX_LENGTH = 64;
    private static final Pattern VARIABLE = Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|\\d+");

    private KeyPattern() {}

    /**
     * @param key the first key in the command; null if there is none
     */
    static String of(String command, byte @Nullable [] key) {
        if (key == null || key.length == 0) {
            return command;
        }
        int length = Math.min(key.length, MAX_LENGTH);
        StringBuilder shown = new StringBuilder(length);
        for (char each : new String(key, 0, length, StandardCharsets.UTF_8).toCharArray()) {
            shown.append(Character.isISOControl(each) || each == '\uFFFD' ? '?' : each);
        }
        return command + ' ' + VARIABLE.matcher(shown).replaceAll("*") + (key.length > MAX_LENGTH ? "..." : "");
    }
}
