package tern.rpc;

import java.util.List;

/** The kind of a method's messages. The kind determines how the messages are encoded. */
public enum Payload {
    /** The messages consist of Java values. */
    JAVA,
    /** The messages are protobuf messages. */
    PROTOBUF,
    /** The messages are bytes that the service encodes and decodes itself. */
    RAW;

    private static final String MESSAGE = "com.google.protobuf.MessageLite";

    /**
     * @throws IllegalArgumentException if a method mixes protobuf messages and other types (docs/wire-protocol.md 3.4)
     */
    static Payload of(String position, List<ValueType> parameters, ValueType result) {
        long messages =
                parameters.stream().filter(type -> isMessage(type.raw())).count();
        if (messages == 0 && !isMessage(result.raw())) {
            return JAVA;
        }
        if (isMessage(result.raw()) && parameters.size() == messages && messages <= 1) {
            return PROTOBUF;
        }
        throw new IllegalArgumentException(position + " mixes protobuf messages and other types; a method"
                + " with protobuf messages takes one message or nothing, and returns one message");
    }

    /**
     * Returns whether the type is a protobuf message. Types are compared by name, because protobuf is an optional
     * dependency.
     */
    static boolean isMessage(Class<?> type) {
        for (Class<?> parent : type.getInterfaces()) {
            if (parent.getName().equals(MESSAGE) || isMessage(parent)) {
                return true;
            }
        }
        Class<?> superclass = type.getSuperclass();
        return superclass != null && isMessage(superclass);
    }
}
