package tern.rpc.serialization;

/**
 * The limits for keys of maps and elements of sets in one message. Without these limits, a sender could choose keys
 * that make hash tables slow (docs/decisions/0025-keys-whose-hash-a-sender-chooses.md). Immutable.
 *
 * @param nonScalarKeys the maximum number of keys of one map, or elements of one set, that are not strings, numbers or
 *     similar scalars; 1 or more
 * @param equalKeys the maximum number of keys with equal hashes that a hash table cannot order by {@code compareTo}; 1
 *     or more
 * @param keySteps the maximum number of steps for hashing and comparing keys; 1 or more
 */
public record KeyLimits(int nonScalarKeys, int equalKeys, long keySteps) {

    /**
     * The default limits: 1,000 non-scalar keys, 256 keys with equal hashes, and 64 Mi steps for hashing and comparing
     * keys. These steps take about 0.1 seconds.
     */
    public static final KeyLimits DEFAULT = new KeyLimits(1000, 256, 1L << 26);

    public KeyLimits {
        if (nonScalarKeys < 1 || equalKeys < 1 || keySteps < 1) {
            throw new IllegalArgumentException("nonScalarKeys is " + nonScalarKeys + ", equalKeys is " + equalKeys
                    + ", keySteps is " + keySteps + "; expected 1 or more of each");
        }
    }
}
