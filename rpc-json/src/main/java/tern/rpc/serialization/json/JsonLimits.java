package tern.rpc.serialization.json;

import tern.rpc.serialization.KeyLimits;

/**
 * Upper limits for decoding one JSON text. The receiver of the text limits its length. Immutable.
 *
 * @param depth the nesting depth of arrays and objects, 1 to 512
 * @param numberDigits the number of characters of a number; for a {@code BigInteger} or {@code BigDecimal}, the number
 *     of digits written without an exponent
 * @param nameLength the length of a member's name
 * @param nonScalarKeys the number of elements of one set, or keys of one map, that are not strings, numbers or similar
 *     scalars
 * @param equalKeys the number of keys in one container that have equal hash codes and are not Comparable with each
 *     other
 * @param keySteps the total number of characters that are compared between the elements of one set, or between the keys
 *     of one map
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

    /**
     * Creates limits with the default values of {@code equalKeys} and {@code keySteps}: at most 256 keys with equal
     * hash codes, and at most 64 Mi compared key characters.
     */
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
     * Returns the defaults: depth 64, numbers of 100 digits, names of 1,024 characters, 1,000 non-scalar keys, 256 keys
     * with equal hash codes, and 64 Mi compared key characters.
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
