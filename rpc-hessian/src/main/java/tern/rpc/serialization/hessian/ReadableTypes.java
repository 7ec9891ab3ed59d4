package tern.rpc.serialization.hessian;

import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.SerializationException;

/**
 * The types that the messages of one service may name. The reader of values uses this interface. Thread-safe.
 *
 * <p>A name is checked before its class is loaded. A method whose result is never null throws {@link
 * SerializationException} for a type that is not allowed.
 */
interface ReadableTypes {

    /** Returns the shape that reads an object of this class as a value of this position. */
    Shape shape(String name, Slot slot);

    /**
     * Returns the shape for an exception at a position that accepts any exception. Returns null if the class is not
     * allowed or does not exist.
     */
    @Nullable
    Shape throwableShape(String name);

    CollectionType collection(String name, Slot slot);

    /** Returns the type of a list without a name at a position that declares a class of lists. */
    CollectionType collection(Slot slot);

    MapType map(String name, Slot slot);

    /** Returns the type of a map without a name at a position that declares a class of maps. */
    MapType map(Slot slot);

    /** Returns the component class of an array whose class is named in the message. */
    Class<?> component(String name, Slot slot);

    Class<?> enumClass(String name);
}
