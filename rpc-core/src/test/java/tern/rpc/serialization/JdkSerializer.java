package tern.rpc.serialization;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.StatusCode;
import tern.rpc.ValueType;

/**
 * A serializer that uses Java serialization. Tests of rpc-core use it, because rpc-core contains no serialization
 * format. The serializer trusts its input. Each value is written as its length in 4 bytes, followed by an object
 * stream. A map is a sequence of keys and values between two markers.
 */
public final class JdkSerializer implements Serializer {

    private enum Mark {
        MAP_START,
        MAP_END
    }

    @Override
    public String name() {
        return "jdk";
    }

    @Override
    public void prepare(ServiceDescriptor service) {}

    @Override
    public ObjectReader newReader() {
        return new Reader();
    }

    @Override
    public ObjectWriter newWriter() {
        return new Writer();
    }

    private static final class Reader implements ObjectReader {
        private ByteBuffer message = ByteBuffer.allocate(0);

        @Override
        public void start(byte[] array, int offset, int length) {
            message = ByteBuffer.wrap(array, offset, length);
        }

        @Override
        public void trust(ServiceDescriptor service) {}

        @Override
        public @Nullable String readString() {
            return (String) next();
        }

        @Override
        public int readInt() {
            return (int) next();
        }

        @Override
        public @Nullable Object readObject(ValueType type) {
            return next();
        }

        @Override
        public @Nullable Object readScalar() {
            return next();
        }

        @Override
        public void skip() {
            if (next() == Mark.MAP_START) {
                while (next() != Mark.MAP_END) {
                    skip();
                }
            }
        }

        @Override
        public Throwable readThrowable() {
            return (Throwable) next();
        }

        @Override
        public void readMetadata(Metadata into) {
            if (next() == null) {
                return;
            }
            for (Object key = next(); key != Mark.MAP_END; key = next()) {
                Object value = next();
                if (value instanceof byte[] binary) {
                    into.put((String) key, binary);
                } else {
                    into.put((String) key, String.valueOf(value));
                }
            }
        }

        @Override
        public int remaining() {
            return message.remaining();
        }

        private @Nullable Object next() {
            try {
                byte[] value = new byte[message.getInt()];
                message.get(value);
                return new ObjectInputStream(new ByteArrayInputStream(value)).readObject();
            } catch (IOException | ClassNotFoundException | RuntimeException e) {
                throw new SerializationException("no value that the JDK can read", e);
            }
        }
    }

    private static final class Writer implements ObjectWriter {
        private OutputBuffer out = new OutputBuffer();

        @Override
        public void start(OutputBuffer out) {
            this.out = out;
        }

        @Override
        public void writeString(@Nullable String value) {
            writeObject(value);
        }

        @Override
        public void writeInt(int value) {
            writeObject(value);
        }

        @Override
        public void writeObject(@Nullable Object value) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
                stream.writeObject(value);
            } catch (IOException e) {
                throw new SerializationException("cannot write " + value, e);
            }
            writeEncoded(ByteBuffer.allocate(4).putInt(bytes.size()).array());
            writeEncoded(bytes.toByteArray());
        }

        /** Writes the exception with fewer stack frames, and then restores its stack trace. */
        @Override
        public void writeThrowable(Throwable value, int frames) {
            StackTraceElement[] trace = value.getStackTrace();
            value.setStackTrace(Arrays.copyOf(trace, Math.min(frames, trace.length)));
            try {
                writeObject(value);
            } catch (SerializationException e) {
                writeObject(new RpcException(StatusCode.UNKNOWN, value.toString()));
            } finally {
                value.setStackTrace(trace);
            }
        }

        @Override
        public void startMap() {
            writeObject(Mark.MAP_START);
        }

        @Override
        public void endMap() {
            writeObject(Mark.MAP_END);
        }

        @Override
        public void writeBytes(byte[] value) {
            writeObject(value);
        }

        @Override
        public void writeEncoded(byte[] encoded) {
            out.write(encoded, 0, encoded.length);
        }

        @Override
        public void finish() {}
    }
}
