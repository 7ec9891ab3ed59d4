package tern.rpc.netty.dubbo;

import java.util.StringJoiner;
import tern.rpc.serialization.SerializationException;

/**
 * The parameter types of a method as a JVM descriptor, such as {@code ILjava/lang/String;[J} (JVM specification,
 * 4.3.2).
 */
final class Descriptor {

    private static final String PRIMITIVES = "BCDFIJSZ";

    private Descriptor() {}

    /**
     * Returns the number of parameters in a descriptor. Does not resolve their types.
     *
     * @throws SerializationException if the string is not a valid descriptor
     */
    static int parameters(String descriptor) {
        int parameters = 0;
        for (int position = 0; position < descriptor.length(); parameters++) {
            position = end(descriptor, position);
        }
        return parameters;
    }

    /** Returns the types in Java syntax, for error messages: {@code int, java.lang.String, long[]}. */
    static String readable(String descriptor) {
        StringJoiner types = new StringJoiner(", ");
        for (int start = 0; start < descriptor.length(); ) {
            int end = end(descriptor, start);
            types.add(readableType(descriptor.substring(start, end)));
            start = end;
        }
        return types.toString();
    }

    private static String readableType(String one) {
        int dimensions = one.lastIndexOf('[') + 1;
        String name = switch (one.charAt(dimensions)) {
            case 'B' -> "byte";
            case 'C' -> "char";
            case 'D' -> "double";
            case 'F' -> "float";
            case 'I' -> "int";
            case 'J' -> "long";
            case 'S' -> "short";
            case 'Z' -> "boolean";
            default ->
                one.substring(dimensions + 1, one.length() - 1)
                        .replace('/', '.')
                        .replace('$', '.');
        };
        return name + "[]".repeat(dimensions);
    }

    /** Returns the index after the type that begins at the given index. */
    private static int end(String descriptor, int start) {
        int position = start;
        while (position < descriptor.length() && descriptor.charAt(position) == '[') {
            position++;
        }
        char kind = position < descriptor.length() ? descriptor.charAt(position) : ' ';
        if (PRIMITIVES.indexOf(kind) >= 0) {
            return position + 1;
        }
        int semicolon = kind == 'L' ? descriptor.indexOf(';', position) : -1;
        if (semicolon <= position + 1
                || descriptor.substring(position, semicolon).indexOf('[') >= 0) {
            throw new SerializationException("the parameter types are invalid from character " + start + " on");
        }
        return semicolon + 1;
    }
}
