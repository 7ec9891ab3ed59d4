package tern.rpc.spring.autoconfigure.pool;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Creates names of Redis commands for diagnoses. A name contains the pattern of the command's key, as in
 * {@code GET user:*}.
 */
final class KeyPattern {

    private static final int MAX_LENGTH = 64;
    private static final Pattern VARIABLE = Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|\\d+");

    /**
     * The first bytes of a text in the format of Java serialization: magic number, version and the code of a short
     * string (Java Object Serialization Specification, chapter 6). Two bytes with the length of the text follow. A
     * {@code RedisTemplate} without a serializer for keys writes its keys in this format.
     */
    private static final byte[] SERIALIZED = {(byte) 0xAC, (byte) 0xED, 0, 5, 0x74};

    private static final int LENGTH_BYTES = 2;

    private KeyPattern() {}

    /** Returns the index of the first byte of the key's text. */
    private static int start(byte[] key) {
        int end = SERIALIZED.length;
        return key.length > end + LENGTH_BYTES && Arrays.equals(key, 0, end, SERIALIZED, 0, end)
                ? end + LENGTH_BYTES
                : 0;
    }

    /**
     * @param key the first key in the command; null if there is none
     */
    static String of(String command, byte @Nullable [] key) {
        if (key == null || key.length == 0) {
            return command;
        }
        int start = start(key);
        int length = Math.min(key.length - start, MAX_LENGTH);
        StringBuilder shown = new StringBuilder(length);
        for (char each : new String(key, start, length, StandardCharsets.UTF_8).toCharArray()) {
            shown.append(Character.isISOControl(each) || each == '\uFFFD' ? '?' : each);
        }
        return command + ' ' + VARIABLE.matcher(shown).replaceAll("*") + (key.length - start > MAX_LENGTH ? "..." : "");
    }
}
