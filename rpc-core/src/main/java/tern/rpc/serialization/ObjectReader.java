package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;

/**
 * Decodes one message, value by value, from a part of an array. A reader can be reused by calling {@link #start} again.
 * Every method throws {@link SerializationException} if the bytes do not contain the requested value. After an
 * exception, {@link #start} must be called before the reader is used again. Not thread-safe.
 */
public interface ObjectReader {

    /**
     * Starts decoding a message. All tables of the previous message are cleared. The array must not change while the
     * message is being decoded.
     */
    void start(byte[] array, int offset, int length);

    /**
     * Starts decoding a message whose sender is known. Messages that take a lot of work are then decoded for one sender
     * after another, so that a sender of many such messages does not delay the messages of other senders.
     *
     * @param sender identifies the sender, such as its address; has {@code equals} and {@code hashCode}
     */
    default void start(byte[] array, int offset, int length, Object sender) {
        start(array, offset, length);
    }

    /**
     * Allows the reader to decode all classes in the service's method signatures. Before this call, only strings,
     * numbers and metadata can be decoded.
     */
    void trust(ServiceDescriptor service);

    @Nullable
    String readString();

    int readInt();

    /**
     * Decodes a value of the declared type. Returns null or an instance of the type's class; primitive values are
     * boxed.
     */
    @Nullable
    Object readObject(ValueType type);

    /**
     * Decodes null, a string, a number or a boolean in any encoding. Any other value is rejected before an object is
     * created.
     */
    @Nullable
    Object readScalar();

    /** Skips a value of any kind without creating an object or loading a class. Does not require {@link #trust}. */
    void skip();

    /**
     * Decodes an exception. If its class is not allowed or does not exist, the result is an {@link
     * tern.rpc.RpcException} with the code UNKNOWN and with the class name and message of the original exception. The
     * same applies to an exception that is the first value of a message and cannot be decoded completely.
     */
    Throwable readThrowable();

    /**
     * Decodes a map or null. Strings, numbers and booleans become text, byte arrays stay binary, and other values are
     * skipped without creating an object.
     */
    void readMetadata(Metadata into);

    /** Returns the number of bytes remaining in the message. */
    int remaining();
}
