package tern.rpc.netty.dubbo;

import tern.rpc.serialization.SerializationException;

/** The types of a method's parameters as a text: {@code ILjava/lang/String;[J} (JVM specification, 4.3.2). */
final class Descriptor {

    private static final String PRIMITIVES = "BCDFIJSZ";

    private Descriptor() {}

    /**
     * How many parameters there are. No type is looked up.
     *
     * @throws SerializationException if it is no descriptor
     */
    static int parameters(String descriptor) {
        int parameters = 0;
        for (int position = 0; position < descriptor.length(); parameters++) {
            position = end(descriptor, position);
        }
        return parameters;
    }

    /** Where the type that begins here ends. */
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
        if (semicolon < 0) {
            throw new SerializationException("the types of parameters make no sense from character " + start + " on");
        }
        return semicolon + 1;
    }
}
