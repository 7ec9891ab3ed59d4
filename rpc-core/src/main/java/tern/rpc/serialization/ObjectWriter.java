package tern.rpc.serialization;

import org.jspecify.annotations.Nullable;

/**
 * Writes one message, value after value, into an {@link OutputBuffer}. Not thread-safe; reused after another
 * {@link #start}. Methods throw {@link SerializationException} when a value cannot be written or the buffer's limit is
 * reached, and then the message is void and the writer must be started again or dropped.
 */
public interface ObjectWriter {

    /** Begins a message at the buffer's present position. All tables of the message before are forgotten. */
    void start(OutputBuffer out);

    void writeString(@Nullable String value);

    void writeInt(int value);

    void writeObject(@Nullable Object value);

    /**
     * An exception with its message, causes, suppressed ones and own fields.
     *
     * @param frames how many stack frames to write of each, 0 for none
     */
    void writeThrowable(Throwable value, int frames);

    /** Begins a map of strings to values; keys and values are written in turn. */
    void startMap();

    void endMap();

    void writeBytes(byte[] value);

    /** Bytes that a writer of this format made before from strings and numbers alone. */
    void writeEncoded(byte[] encoded);

    /** Makes sure that everything is in the buffer. */
    void finish();
}
