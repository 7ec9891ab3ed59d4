package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * The types that the messages of one service may name. The classes that read values use this interface. Thread-safe.
 * <p>A name is checked before its class is loaded. If a type is not allowed, methods whose result may be null return
 * null, and all other methods throw {@link SerializationException}.
 */
interface ReadableTypes {

    /** Returns the {@link Shape} that reads objects of the class at the given position. */
    Shape shape(String name, Slot slot);

    /**
     * Returns the {@link Shape} for an exception at a position that accepts any exception. Returns null if the class is
     * not allowed or does not exist.
     */
    @Nullable
    Shape throwableShape(String name);

    /**
     * Returns the type to create for a list with a type name in the message. A class that is not allowed is replaced if
     * the position is declared as a JDK collection type.
     */
    CollectionType collection(String name, Slot slot);

    /**
     * Returns the type to create for a list that has no type name in the message, at a position whose declared type is
     * a collection class.
     */
    CollectionType collection(Slot slot);

    /**
     * Returns the type to create for a map with a type name in the message. A class that is not allowed is replaced if
     * the position is declared as a JDK map type.
     */
    MapType map(String name, Slot slot);

    /**
     * Returns the type to create for a map that has no type name in the message, at a position whose declared type is a
     * map class.
     */
    MapType map(Slot slot);

    /** Returns the component class of an array with a type name in the message. */
    Class<?> component(String name, Slot slot);

    Class<?> enumClass(String name);
}
