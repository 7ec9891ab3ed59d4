package tern.rpc.spring.autoconfigure.pool;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Creates names of Redis commands for diagnoses. A name contains the pattern of the command's key, for example {@code
 * GET user:*}.
 */
final class KeyPattern {

    private static final int MAX_LENGTH = 64;
    private static final Pattern VARIABLE = Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|\\d+");

    /** The first bytes of a string in Java's serialization format. The length of the string follows. */
    private static final byte[] SERIALIZED = {(byte) 0xAC, (byte) 0xED, 0, 5, 0x74};

    private static final int LENGTH_BYTES = 2;

    private KeyPattern() {}

    /**
     * @param key the first key in the command; null if there is none
     */
    static String of(String command, byte @Nullable [] key) {
        if (key == null || key.length == 0) {
            return command;
        }
        int from = isSerialized(key) ? SERIALIZED.length + LENGTH_BYTES : 0;
        int length = Math.min(key.length - from, MAX_LENGTH);
        StringBuilder shown = new StringBuilder(length);
        for (char each : new String(key, from, length, StandardCharsets.UTF_8).toCharArray()) {
            shown.append(Character.isISOControl(each) || each == '\uFFFD' ? '?' : each);
        }
        return command + ' ' + VARIABLE.matcher(shown).replaceAll("*") + (key.length - from > MAX_LENGTH ? "..." : "");
    }

    /** Returns whether the key is a string that Java's serialization has written, as RedisTemplate does by default. */
    private static boolean isSerialized(byte[] key) {
        return key.length >= SERIALIZED.length + LENGTH_BYTES
                && Arrays.equals(key, 0, SERIALIZED.length, SERIALIZED, 0, SERIALIZED.length);
    }
}
