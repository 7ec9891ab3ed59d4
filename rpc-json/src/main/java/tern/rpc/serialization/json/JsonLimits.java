package tern.rpc.serialization.json;

import tern.rpc.serialization.KeyLimits;

/**
 * The limits for decoding one JSON text. The receiver limits its length. Immutable.
 *
 * @param depth the nesting depth of arrays and objects, 1 to 512
 * @param numberDigits the number of characters of a number, and of digits of a {@code BigInteger} or {@code BigDecimal}
 *     without exponent
 * @param nameLength the number of characters of a member's name
 * @param nonScalarKeys the number of elements of one set, or keys of one map, that are not text, numbers or similar
 * @param equalKeys the number of such keys that have the same hash and that a hash table cannot order
 * @param keySteps the number of characters of a set's elements that may be compared with others, counted for each
 *     comparison
 */
public record JsonLimits(int depth, int numberDigits, int nameLength, int nonScalarKeys, int equalKeys, long keySteps) {

    private static final JsonLimits DEFAULTS = new JsonLimits(64, 100, 1024, KeyLimits.DEFAULT.nonScalarKeys());

    public JsonLimits {
        check("depth", depth, 512);
        check("numberDigits", numberDigits, 1000);
        check("nameLength", nameLength, 0xffff);
        check("nonScalarKeys", nonScalarKeys, Integer.MAX_VALUE);
        check("equalKeys", equalKeys, Integer.MAX_VALUE);
        if (keySteps < 1) {
            throw new IllegalArgumentException("keySteps is " + keySteps + "; expected 1 or more");
        }
    }

    /** Creates limits with 256 keys of equal hash and 64 Mi steps. */
    public JsonLimits(int depth, int numberDigits, int nameLength, int nonScalarKeys) {
        this(
                depth,
                numberDigits,
                nameLength,
                nonScalarKeys,
                KeyLimits.DEFAULT.equalKeys(),
                KeyLimits.DEFAULT.keySteps());
    }

    /**
     * The defaults: depth 64, numbers of 100 digits, names of 1,024 characters, 1,000 non-scalar keys, 256 keys of
     * equal hash.
     */
    public static JsonLimits defaults() {
        return DEFAULTS;
    }

    private static void check(String name, int value, int largest) {
        if (value < 1 || value > largest) {
            throw new IllegalArgumentException(name + " is " + value + "; expected 1 to " + largest);
        }
    }
}
