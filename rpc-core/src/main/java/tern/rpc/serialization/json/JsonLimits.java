package tern.rpc.serialization.json;

/**
 * What one JSON text may cost its reader. Its length is bounded by whoever receives it. Immutable.
 *
 * @param depth arrays and objects inside each other, 1 to 512
 * @param numberDigits characters of a number; also digits of a {@code BigInteger} or {@code BigDecimal} without exponent
 * @param nameLength characters of a member's name
 * @param nonScalarKeys elements of one set, or keys of one map, that are not text, numbers and the like
 */
public record JsonLimits(int depth, int numberDigits, int nameLength, int nonScalarKeys) {

    private static final JsonLimits DEFAULTS = new JsonLimits(64, 100, 1024, 1000);

    public JsonLimits {
        check("depth", depth, 512);
        check("numberDigits", numberDigits, 1000);
        check("nameLength", nameLength, 0xffff);
        check("nonScalarKeys", nonScalarKeys, Integer.MAX_VALUE);
    }

    /** 64 deep, numbers of 100 digits, names of 1,024 characters, 1,000 keys that are not scalars. */
    public static JsonLimits defaults() {
        return DEFAULTS;
    }

    private static void check(String name, int value, int largest) {
        if (value < 1 || value > largest) {
            throw new IllegalArgumentException(name + " is " + value + "; expected 1 to " + largest);
        }
    }
}
