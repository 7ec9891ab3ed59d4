package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;

/**
 * Encodes one message, value after value, into an {@link OutputBuffer}. Not thread-safe. It can be reused by another
 * {@link #start}. Methods throw {@link SerializationException} if a value cannot be encoded or the buffer's limit is
 * reached. The message is then invalid, and the writer must be started again or dropped.
 */
public interface ObjectWriter {

    /** Starts a message at the buffer's position. All tables of the last message are cleared. */
    void start(OutputBuffer out);

    void writeString(@Nullable String value);

    void writeInt(int value);

    void writeObject(@Nullable Object value);

    /**
     * Encodes an exception with its message, causes, suppressed exceptions and own fields.
     *
     * @param frames the number of stack frames of each exception; 0 for none
     */
    void writeThrowable(Throwable value, int frames);

    /** Starts a map from strings to values. Keys and values are then written in turn. */
    void startMap();

    void endMap();

    void writeBytes(byte[] value);

    /** Writes bytes that a writer of this format encoded before, from strings and numbers only. */
    void writeEncoded(byte[] encoded);

    /** Completes the message in the buffer. */
    void finish();
}
