package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;

/**
 * Reads one message, value after value, from a part of an array. Not thread-safe; reused after another
 * {@link #start}. Every method throws {@link SerializationException} when the bytes do not make what it asks for, and
 * then the reader must be started again or dropped.
 */
public interface ObjectReader {

    /** Begins a message. All tables of the message before are forgotten; the array must not change meanwhile. */
    void start(byte[] array, int offset, int length);

    /** From here on, what the service's signatures reach may be read; before, only strings, numbers and metadata. */
    void trust(ServiceDescriptor service);

    @Nullable
    String readString();

    int readInt();

    /** A value for a position of this declared type: it is an instance of the type's class (boxed), or null. */
    @Nullable
    Object readObject(ValueType type);

    /** Null, text, a number or a boolean, of whatever type it was written; anything else is refused uncreated. */
    @Nullable
    Object readScalar();

    /** Passes over a value of any kind without creating it or loading a class; needs no trust. */
    void skip();

    /**
     * A value at a position where only an exception may stand. A class that may not be read, or does not exist here,
     * becomes an {@link tern.rpc.RpcException} with code UNKNOWN that carries its name and message. So does the first value of
     * a message if a part of it cannot be read.
     */
    Throwable readThrowable();

    /**
     * A map or null. Text, numbers and booleans become text, byte arrays stay binary, other values are passed over
     * without being created.
     */
    void readMetadata(Metadata into);

    /** Bytes of the message that were not read yet. */
    int remaining();
}
