package tern.rpc.serialization.hessian;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Texts that come in message after message, such as the names of services and of attachments, by their bytes: no text is
 * made of those that were seen before. A text has one place, which the next with the same place takes, so that no peer
 * makes it grow. Not thread-safe.
 */
final class KnownTexts {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private static final int PLACES = 1 << 7;

    /** Names are shorter; longer texts are not worth their memory. */
    private static final int LONGEST = 128;

    private final byte[] @Nullable [] keys = new byte[PLACES][];
    private final @Nullable String[] texts = new @Nullable String[PLACES];

    /** The text that these bytes are in ASCII, if it is known; else null. */
    @Nullable
    String find(byte[] bytes, int from, int length) {
        if (length > LONGEST) {
            return null;
        }
        int place = place(bytes, from, length);
        byte[] key = keys[place];
        return key != null && Arrays.equals(key, 0, key.length, bytes, from, from + length) ? texts[place] : null;
    }

    /** Remembers a text, which consists of these bytes in ASCII. */
    void add(byte[] bytes, int from, int length, String text) {
        if (length <= LONGEST) {
            int place = place(bytes, from, length);
            keys[place] = text.getBytes(StandardCharsets.ISO_8859_1);
            texts[place] = text;
        }
    }

    /** By length, beginning, middle and end alone, which tell names apart. */
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
