package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A cache of strings that occur in many messages, such as service and attachment names. A string is looked up by its
 * bytes, so no new object is created for a cached string. The cache has a fixed size: a new string replaces the cached
 * string with the same index. Not thread-safe.
 */
final class KnownTexts {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int PLACES = 1 << 7;

    /**
     * The maximum length of a cached string. Names are shorter, and caching longer strings would cost too much memory.
     */
    private static final int MAX_LENGTH = 128;

    private final byte[] @Nullable [] keys = new byte[PLACES][];
    private final @Nullable String[] texts = new @Nullable String[PLACES];

    /** Returns the cached string with these ASCII bytes, or null if there is none. */
    @Nullable
    String find(byte[] bytes, int from, int length) {
        if (length > MAX_LENGTH) {
            return null;
        }
        int place = place(bytes, from, length);
        byte[] key = keys[place];
        return key != null && Arrays.equals(key, 0, key.length, bytes, from, from + length) ? texts[place] : null;
    }

    /**
     * Adds a string to the cache.
     *
     * @param bytes an array that contains the string as ASCII
     */
    void add(byte[] bytes, int from, int length, String text) {
        if (length <= MAX_LENGTH) {
            int place = place(bytes, from, length);
            keys[place] = text.getBytes(StandardCharsets.ISO_8859_1);
            texts[place] = text;
        }
    }

    /**
     * Computes the cache index of a string from its length and its first, middle and last eight bytes. Most names
     * differ in these bytes. For a string of fewer than eight bytes, uses all bytes.
     */
    private static int place(byte[] bytes, int from, int length) {
        long mixed = length;
        if (length >= Long.BYTES) {
            mixed = mix(mixed, (long) LONGS.get(bytes, from));
            mixed = mix(mixed, (long) LONGS.get(bytes, from + (length - Long.BYTES) / 2));
            mixed = mix(mixed, (long) LONGS.get(bytes, from + length - Long.BYTES));
        } else {
            for (int i = from; i < from + length; i++) {
                mixed = mix(mixed, bytes[i]);
            }
        }
        return (int) (mixed >>> (Long.SIZE - 7));
    }

    private static long mix(long mixed, long more) {
        return (Long.rotateLeft(mixed, 5) ^ more) * 0x9E3779B97F4A7C15L;
    }
}
