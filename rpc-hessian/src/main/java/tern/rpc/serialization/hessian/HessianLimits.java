package tern.rpc.serialization.hessian;

import tern.rpc.serialization.KeyLimits;

/**
 * The limits for reading one message. Immutable.
 *
 * @param depth the nesting depth of containers, 1 to 512
 * @param values the number of values of all kinds, except elements of primitive arrays
 * @param classDefinitions the number of class definitions in a message
 * @param fields the number of fields in a class definition
 * @param typeNameLength the number of characters in the name of a class or a field
 * @param hashedNesting the nesting depth of set elements and map keys that contain other sets or maps; the contents of
 *     all levels are hashed together
 * @param nonScalarKeys the number of elements of one set, or keys of one map, that are not strings, numbers or similar
 *     scalars
 * @param equalKeys the number of keys in one container that have equal hash codes but cannot be sorted together, for
 *     example strings and numbers
 * @param keySteps the number of steps for hashing and comparing map keys and set elements; a value is counted each time
 *     it is visited
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

    private static final HessianLimits DEFAULTS =
            new HessianLimits(64, 1 << 20, 1024, 512, 512, 4, KeyLimits.DEFAULT.nonScalarKeys());

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

    /**
     * Creates limits with the default values of {@code equalKeys} and {@code keySteps}: 256 keys with equal hash codes,
     * and 64 Mi steps for hashing and comparing keys.
     */
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
                KeyLimits.DEFAULT.equalKeys(),
                KeyLimits.DEFAULT.keySteps());
    }

    /**
     * Returns the defaults: depth 64, 1 Mi values, 1,024 class definitions, 512 fields per definition, 512 characters
     * per name, 4 nested levels of set elements and map keys that contain sets or maps, 1,000 non-scalar keys, 256 keys
     * with equal hash codes, and 64 Mi steps for hashing and comparing keys.
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
