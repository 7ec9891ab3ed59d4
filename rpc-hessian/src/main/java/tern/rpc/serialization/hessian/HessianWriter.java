package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/** Writes Hessian 2 directly into the buffer. Not thread-safe. */
final class HessianWriter implements ObjectWriter {

    /**
     * After a message of more than {@value} bytes, the writer releases the array and the written objects. If it kept
     * them, every idle writer could occupy several MiB.
     */
    private static final int MAX_KEPT_BYTES = 1 << 20;

    private OutputBuffer buffer = new OutputBuffer();
    private final HessianOutput hessian;
    private final Predicate<Class<?>> foreign;

    /** @param foreign returns whether an exception class is unknown to callers */
    HessianWriter(WireForms forms, Predicate<Class<?>> foreign) {
        this.hessian = new HessianOutput(forms, buffer);
        this.foreign = foreign;
    }

    @Override
    public void start(OutputBuffer out) {
        buffer = out;
        hessian.start(out);
    }

    @Override
    public void writeString(@Nullable String value) {
        hessian.writeString(value);
    }

    @Override
    public void writeInt(int value) {
        hessian.writeInt(value);
    }

    @Override
    public void writeObject(@Nullable Object value) {
        try {
            hessian.writeObject(value);
        } catch (IOException | RuntimeException | StackOverflowError failure) {
            throw failed(value, failure);
        }
    }

    @Override
    public void writeThrowable(Throwable value, int frames) {
        hessian.frames = Math.min(frames, LinkedThrowables.MAX_FRAMES);
        hessian.foreign = foreign;
        writeObject(value);
        hessian.frames = 0;
        hessian.foreign = null;
    }

    /** Begins a map and assigns a reference number to it, because every reader does the same. */
    @Override
    public void startMap() {
        hessian.skipRef();
        hessian.writeMapBegin(null);
    }

    @Override
    public void endMap() {
        hessian.writeMapEnd();
    }

    @Override
    public void writeBytes(byte[] value) {
        hessian.writeBytes(value);
    }

    @Override
    public void writeEncoded(byte[] encoded) {
        buffer.write(encoded, 0, encoded.length);
        hessian.flush();
    }

    @Override
    public void finish() {
        hessian.flush();
        if (buffer.position() > MAX_KEPT_BYTES) {
            hessian.forget();
        }
    }

    /**
     * Returns the exception for a value that could not be written. If the value was refused because too many large
     * messages are being written, returns the refusal unchanged, because a later attempt may succeed. Line breaks in
     * the failure's message, as in hessian-lite's messages, are replaced with commas.
     */
    private RuntimeException failed(@Nullable Object value, Throwable failure) {
        hessian.forget();
        MessageTooLargeException tooLarge = Thrown.find(failure, MessageTooLargeException.class);
        if (tooLarge != null) {
            return tooLarge;
        }
        RpcException refused = Thrown.find(failure, RpcException.class);
        if (refused != null && refused.code() == StatusCode.RESOURCE_EXHAUSTED) {
            return refused;
        }
        String why = failure instanceof StackOverflowError
                ? "its parts are nested too deeply"
                : String.valueOf(Thrown.message(failure)).replaceAll("\\s*\\R\\s*", ", ");
        return new SerializationException(
                "an instance of " + Objects.requireNonNull(value).getClass().getName() + " cannot be written: " + why,
                failure);
    }
}
