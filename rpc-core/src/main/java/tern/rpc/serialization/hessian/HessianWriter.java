package tern.rpc.serialization.hessian;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tern.rpc.serialization.MessageTooLargeException;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.SerializationException;

/** Writes Hessian 2 through hessian-lite. Not thread-safe. */
final class HessianWriter implements ObjectWriter {

    private final HessianOutput hessian;
    private @Nullable OutputBuffer buffer;
    private @Nullable OutputStream stream;

    HessianWriter(HessianTypes types) {
        this.hessian = new HessianOutput(types);
    }

    @Override
    public void start(OutputBuffer out) {
        if (buffer != out) {
            buffer = out;
            stream = out.asStream();
        }
        hessian.reset();
        hessian.init(stream);
        hessian.links = 0;
        hessian.frames = 0;
    }

    @Override
    public void writeString(@Nullable String value) {
        write("text", () -> hessian.writeString(value));
    }

    @Override
    public void writeInt(int value) {
        write("a number", () -> hessian.writeInt(value));
    }

    @Override
    public void writeObject(@Nullable Object value) {
        write(value, () -> hessian.writeObject(value));
    }

    @Override
    public void writeThrowable(Throwable value, int frames) {
        hessian.frames = Math.min(frames, LinkedThrowables.MOST_FRAMES);
        write(value, () -> hessian.writeObject(value));
        hessian.frames = 0;
    }

    /** The map takes a number among the references, as it does at every reader. */
    @Override
    public void startMap() {
        write("a map", () -> {
            hessian.addRef(new Object());
            hessian.writeMapBegin(null);
        });
    }

    @Override
    public void endMap() {
        write("a map", hessian::writeMapEnd);
    }

    @Override
    public void writeBytes(byte[] value) {
        write("bytes", () -> hessian.writeBytes(value));
    }

    @Override
    public void writeEncoded(byte[] encoded) {
        finish();
        Objects.requireNonNull(buffer).write(encoded, 0, encoded.length);
    }

    @Override
    public void finish() {
        write("a message", hessian::flushBuffer);
    }

    private static void write(@Nullable Object value, Step step) {
        try {
            step.run();
        } catch (MessageTooLargeException failure) {
            throw failure;
        } catch (IOException | RuntimeException | StackOverflowError failure) {
            throw failed(value, failure);
        }
    }

    /** hessian-lite wraps what goes wrong once per field and adds to its message where it was, line by line. */
    private static SerializationException failed(@Nullable Object value, Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MessageTooLargeException tooLarge) {
                return tooLarge;
            }
        }
        String what = value instanceof String text
                ? text
                : "an instance of " + Objects.requireNonNull(value).getClass().getName();
        String why = failure instanceof StackOverflowError
                ? "its parts are nested too deeply"
                : String.valueOf(failure.getMessage()).replaceAll("\\s*\\R\\s*", ", ");
        return new SerializationException(what + " cannot be written: " + why, failure);
    }

    @FunctionalInterface
    private interface Step {
        void run() throws IOException;
    }
}
