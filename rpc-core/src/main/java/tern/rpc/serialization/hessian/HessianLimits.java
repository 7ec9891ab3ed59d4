package tern.rpc.serialization.hessian;

/**
 * What one message may cost its reader. Immutable.
 *
 * @param depth containers inside containers, 1 to 512
 * @param values values of every kind but the elements of primitive arrays
 * @param classDefinitions class definitions in a message
 * @param fields fields in a class definition
 * @param typeNameLength characters of the name of a class or a field
 * @param hashedNesting sets inside elements of sets and keys of maps, each of which is hashed as a whole
 * @param nonScalarKeys elements of one set, or keys of one map, that are not text, numbers and the like
 * @param equalKeys of them that have the same hash and which a table cannot order, as texts and numbers together
 * @param keySteps parts of keys and elements of sets that may be hashed or compared, each whenever it is
 */
public record HessianLimits(
        int depth,
        int values,
        int classDefinitions,
        int fields,
        int typeNameLength,
        int hashedNesting,
        int nonScalarKeys,
        int equalKeys,
        long keySteps) {

    private static final int EQUAL_KEYS = 256;
    private static final long KEY_STEPS = 1L << 26; // about a tenth of a second
    private static final HessianLimits DEFAULTS =
            new HessianLimits(64, 1 << 20, 1024, 512, 512, 4, 1000, EQUAL_KEYS, KEY_STEPS);

    public HessianLimits {
        check("depth", depth, 512);
        check("values", values, Integer.MAX_VALUE);
        check("classDefinitions", classDefinitions, Integer.MAX_VALUE);
        check("fields", fields, 0xffff);
        check("typeNameLength", typeNameLength, 0xffff);
        check("hashedNesting", hashedNesting, 512);
        check("nonScalarKeys", nonScalarKeys, Integer.MAX_VALUE);
        check("equalKeys", equalKeys, Integer.MAX_VALUE);
        if (keySteps < 1) {
            throw new IllegalArgumentException("keySteps is " + keySteps + "; expected 1 or more");
        }
    }

    /** With 256 keys of equal hash and 64 Mi steps. */
    public HessianLimits(
            int depth,
            int values,
            int classDefinitions,
            int fields,
            int typeNameLength,
            int hashedNesting,
            int nonScalarKeys) {
        this(
                depth,
                values,
                classDefinitions,
                fields,
                typeNameLength,
                hashedNesting,
                nonScalarKeys,
                EQUAL_KEYS,
                KEY_STEPS);
    }

    /**
     * 64 deep, 1 Mi values, 1,024 definitions of 512 fields, names of 512 characters, 4 hashed inside each other, 1,000
     * such keys, 256 of equal hash, 64 Mi steps.
     */
    public static HessianLimits defaults() {
        return DEFAULTS;
    }

    private static void check(String name, int value, int largest) {
        if (value < 1 || value > largest) {
            throw new IllegalArgumentException(name + " is " + value + "; expected 1 to " + largest);
        }
    }
}
