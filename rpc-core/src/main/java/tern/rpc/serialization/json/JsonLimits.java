package tern.rpc.serialization.json;

/**
 * What one JSON text may cost its reader. Its length is bounded by whoever receives it. Immutable.
 *
 * @param depth arrays and objects inside each other, 1 to 512
 * @param numberDigits characters of a number; also digits of a {@code BigInteger} or {@code BigDecimal} without exponent
 * @param nameLength characters of a member's name
 * @param nonScalarKeys elements of one set, or keys of one map, that are not text, numbers and the like
 * @param equalKeys of them that have the same hash and which a table cannot order
 * @param keySteps characters of elements of one set that may be compared with others, each whenever it is
 */
public record JsonLimits(int depth, int numberDigits, int nameLength, int nonScalarKeys, int equalKeys, long keySteps) {

    private static final JsonLimits DEFAULTS = new JsonLimits(64, 100, 1024, 1000);

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

    /** With 256 keys of equal hash and 64 Mi steps. */
    public JsonLimits(int depth, int numberDigits, int nameLength, int nonScalarKeys) {
        this(depth, numberDigits, nameLength, nonScalarKeys, 256, 1L << 26);
    }

    /** 64 deep, numbers of 100 digits, names of 1,024 characters, 1,000 keys that are not scalars, 256 of equal hash. */
    public static JsonLimits defaults() {
        return DEFAULTS;
    }

    private static void check(String name, int value, int largest) {
        if (value < 1 || value > largest) {
            throw new IllegalArgumentException(name + " is " + value + "; expected 1 to " + largest);
        }
    }
}
