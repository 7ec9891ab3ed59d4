package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;

/**
 * Decodes one message, value after value, from a part of an array. Not thread-safe. It can be reused by another {@link
 * #start}. Every method throws {@link SerializationException} if the bytes do not contain the requested value; the
 * reader must then be started again or dropped.
 */
public interface ObjectReader {

    /** Starts a message. All tables of the last message are cleared. The array must not change meanwhile. */
    void start(byte[] array, int offset, int length);

    /**
     * Permits all classes in the service's signatures from now on. Before this, only strings, numbers and metadata may
     * be decoded.
     */
    void trust(ServiceDescriptor service);

    @Nullable
    String readString();

    int readInt();

    /** Decodes a value of the declared type: an instance of the type's class (boxed), or null. */
    @Nullable
    Object readObject(ValueType type);

    /** Decodes null, text, a number or a boolean of any encoding. Anything else is rejected before it is created. */
    @Nullable
    Object readScalar();

    /** Skips a value of any kind without creating it or loading a class. Needs no {@link #trust}. */
    void skip();

    /**
     * Decodes an exception. An exception whose class is not allowed or missing becomes an {@link tern.rpc.RpcException}
     * with the code UNKNOWN and the name and message of the original. The same happens if the exception is the first
     * value of a message and a part of it cannot be decoded.
     */
    Throwable readThrowable();

    /**
     * Decodes a map or null. Text, numbers and booleans become text, byte arrays stay binary, and other values are
     * skipped without being created.
     */
    void readMetadata(Metadata into);

    /** The number of remaining bytes of the message. */
    int remaining();
}
