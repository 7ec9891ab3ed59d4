package tern.rpc.registry.dubbo;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;

/**
 * Hashes the names of entries with SipHash-2-4 and a secret key. Anyone who can write to the registry can choose names.
 * An attacker who does not know the key cannot find two names with the same hash. The probability that two of 100,000
 * names have the same hash is below 1 in 10⁹. Not thread-safe.
 */
final class NameHash {

    private static final int LENGTH_SHIFT = 56;
    private static final int ROUNDS_PER_WORD = 2;
    private static final int LAST_ROUNDS = 4;

    private final long key0;
    private final long key1;
    private long v0;
    private long v1;
    private long v2;
    private long v3;

    private NameHash(SecureRandom random) {
        this(random.nextLong(), random.nextLong());
    }

    NameHash() {
        this(new SecureRandom());
    }

    NameHash(long key0, long key1) {
        this.key0 = key0;
        this.key1 = key1;
    }

    long of(String name) {
        return of(name.getBytes(StandardCharsets.UTF_8));
    }

    long of(byte[] bytes) {
        v0 = key0 ^ 0x736f6d6570736575L;
        v1 = key1 ^ 0x646f72616e646f6dL;
        v2 = key0 ^ 0x6c7967656e657261L;
        v3 = key1 ^ 0x7465646279746573L;
        ByteBuffer data = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        while (data.remaining() >= Long.BYTES) {
            add(data.getLong());
        }
        long last = (long) bytes.length << LENGTH_SHIFT;
        for (int shift = 0; data.hasRemaining(); shift += Byte.SIZE) {
            last |= (data.get() & 0xffL) << shift;
        }
        add(last);
        v2 ^= 0xff;
        rounds(LAST_ROUNDS);
        return v0 ^ v1 ^ v2 ^ v3;
    }

    private void add(long word) {
        v3 ^= word;
        rounds(ROUNDS_PER_WORD);
        v0 ^= word;
    }

    private void rounds(int number) {
        for (int i = 0; i < number; i++) {
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }
    }
}
