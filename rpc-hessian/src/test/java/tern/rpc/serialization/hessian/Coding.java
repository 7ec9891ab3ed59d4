package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import com.alibaba.com.caucho.hessian.io.Hessian2Output;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Type;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;

/** Reads and writes single values with the readers and writers of Tern and hessian-lite. */
final class Coding {

    /** Delays the loading of hessian-lite until a test uses it for a comparison. */
    private static final class Lite {
        static final SerializerFactory FACTORY = new SerializerFactory(Coding.class.getClassLoader());
    }

    private final HessianSerializer serializer;
    private final ServiceDescriptor service;

    Coding(HessianSerializer serializer, Class<?> service) {
        this.serializer = serializer;
        this.service = ServiceDescriptor.of(service);
        serializer.prepare(this.service);
    }

    static Coding of(Class<?> service) {
        return new Coding(HessianSerializer.builder().build(), service);
    }

    @Nullable
    Object read(byte[] bytes, Type type) {
        ObjectReader reader = start(bytes);
        Object value = reader.readObject(ValueType.of(type));
        if (reader.remaining() > 0) {
            throw new AssertionError(reader.remaining() + " bytes left");
        }
        return value;
    }

    @Nullable
    Object read(byte[] bytes) {
        return read(bytes, Object.class);
    }

    /** Reads a message from the given sender. Limits that are counted per sender apply. */
    @Nullable
    Object readFrom(Object sender, byte[] bytes) {
        ObjectReader reader = serializer.newReader();
        reader.start(bytes, 0, bytes.length, sender);
        reader.trust(service);
        return reader.readObject(ValueType.of(Object.class));
    }

    Throwable readThrowable(byte[] bytes) {
        return start(bytes).readThrowable();
    }

    ObjectReader start(byte[] bytes) {
        ObjectReader reader = serializer.newReader();
        reader.start(bytes, 0, bytes.length);
        reader.trust(service);
        return reader;
    }

    byte[] write(@Nullable Object value) {
        OutputBuffer buffer = new OutputBuffer();
        buffer.reset(Integer.MAX_VALUE);
        ObjectWriter writer = serializer.newWriter();
        writer.start(buffer);
        writer.writeObject(value);
        writer.finish();
        return buffer.toByteArray();
    }

    byte[] writeAsKey(Object key) {
        OutputBuffer buffer = new OutputBuffer();
        buffer.reset(Integer.MAX_VALUE);
        ObjectWriter writer = serializer.newWriter();
        writer.start(buffer);
        writer.startMap();
        writer.writeObject(key);
        writer.writeInt(1);
        writer.endMap();
        writer.finish();
        return buffer.toByteArray();
    }

    byte[] writeThrowable(Throwable value, int frames) {
        OutputBuffer buffer = new OutputBuffer();
        buffer.reset(Integer.MAX_VALUE);
        ObjectWriter writer = serializer.newWriter();
        writer.start(buffer);
        writer.writeThrowable(value, frames);
        writer.finish();
        return buffer.toByteArray();
    }

    @Nullable
    Object through(@Nullable Object value, Type type) {
        return read(write(value), type);
    }

    static byte[] writeLite(@Nullable Object value) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            Hessian2Output output = new Hessian2Output(bytes);
            output.setSerializerFactory(Lite.FACTORY);
            output.writeObject(value);
            output.flush();
            return bytes.toByteArray();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static @Nullable Object readLite(byte[] bytes) {
        try {
            Hessian2Input input = new Hessian2Input(new ByteArrayInputStream(bytes));
            input.setSerializerFactory(Lite.FACTORY);
            return input.readObject();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /**
     * Converts a notation to bytes. The notation consists of hex digits and quoted strings such as {@code "text"},
     * which are encoded with their length.
     */
    static byte[] bytes(String notation) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        String[] parts = notation.split("\"", -1);
        for (int i = 0; i < parts.length; i++) {
            if (i % 2 == 0) {
                bytes.writeBytes(HexFormat.of().parseHex(parts[i].replace(" ", "")));
            } else {
                writeText(bytes, parts[i]);
            }
        }
        return bytes.toByteArray();
    }

    private static void writeText(ByteArrayOutputStream bytes, String ascii) {
        if (ascii.length() > 0x1f) {
            bytes.write(0x30 + (ascii.length() >> 8));
        }
        bytes.write(ascii.length());
        bytes.writeBytes(ascii.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }
}
