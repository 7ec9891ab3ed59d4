package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;

/**
 * Encodes one message, value by value, into an {@link OutputBuffer}. Not thread-safe. A writer can be reused by calling
 * {@link #start} again. Methods throw {@link SerializationException} if a value cannot be encoded or the buffer's limit
 * is reached. The message is then invalid, and {@link #start} must be called before the writer is used again.
 */
public interface ObjectWriter {

    /** Starts encoding a message at the buffer's position. All tables of the previous message are cleared. */
    void start(OutputBuffer out);

    void writeString(@Nullable String value);

    void writeInt(int value);

    void writeObject(@Nullable Object value);

    /**
     * Encodes an exception with its message, causes, suppressed exceptions and own fields.
     *
     * @param frames the number of stack frames of each exception, or 0 for none
     */
    void writeThrowable(Throwable value, int frames);

    /** Starts a map from strings to values. The caller then writes keys and values alternately. */
    void startMap();

    void endMap();

    void writeBytes(byte[] value);

    /**
     * Writes bytes that a writer of the same format has encoded earlier. The bytes must represent only strings and
     * numbers.
     */
    void writeEncoded(byte[] encoded);

    /** Completes the message. After that, the buffer contains all bytes of the message. */
    void finish();
}
