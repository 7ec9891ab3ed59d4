package tern.rpc.load.micro;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import com.alibaba.com.caucho.hessian.io.Hessian2Output;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.load.micro.SideBySide.Row;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.sample.api.User;

/**
 * Compares how Tern and hessian-lite read and write hessian2. In this benchmark, both libraries reuse their readers and
 * writers for all messages. Dubbo itself creates new readers and writers for each message.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.HessianCoding [rounds] [milliseconds] [part of a
 * row's name]</pre>
 */
public final class HessianCoding {

    private static final int USERS = 20;

    private HessianCoding() {}

    enum Colour {
        RED,
        GREEN
    }

    record Address(String street, int number, Colour colour) implements Serializable {}

    static final class Person implements Serializable {
        private static final long serialVersionUID = 1L;

        String name = "Ada";
        int age = 36;
        long id = 1L << 40;
        double ratio = 0.123456789;
        boolean active = true;
        Address address = new Address("Main Street", 12, Colour.GREEN);
        List<String> tags = new ArrayList<>(List.of("one", "two", "three"));
        Map<String, Integer> scores = new LinkedHashMap<>(Map.of("chess", 1800, "go", 5));
        private @Nullable Person friend;
    }

    interface People {
        User user();

        List<User> users();

        Person person();

        String text();
    }

    public static void main(String[] arguments) {
        SideBySide.print("hessian-lite", rows(), arguments);
    }

    private static List<Row> rows() {
        List<User> users = users(USERS);
        Person person = new Person();
        person.friend = new Person();
        person.friend.friend = new Person();
        List<Row> rows = new ArrayList<>();
        rows.add(new Row("write a user just made", fresh(1, ourWriting()), fresh(1, liteWriting())));
        rows.add(new Row(
                "write " + USERS + " users just made", fresh(USERS, ourWriting()), fresh(USERS, liteWriting())));
        addBoth(rows, "a user", "user", JsonGenerics.user());
        addBoth(rows, USERS + " users", "users", users);
        addBoth(rows, "a person and friends", "person", person);
        addBoth(rows, "1 KB of text", "text", "0123456789abcdef".repeat(64));
        addBoth(rows, "50 KB of text", "text", "0123456789abcdef".repeat(3200));
        addBoth(rows, "200 KB of text", "text", "0123456789abcdef".repeat(12800));
        addBoth(rows, "10 KB of Chinese", "text", "\u6f22\u5b57".repeat(1700));
        return rows;
    }

    /**
     * Writes new objects each time, because the first computation of an object's identity hash takes longer than
     * reading the hash later.
     */
    private static Supplier<?> fresh(int count, Function<Object, Object> writing) {
        return () -> writing.apply(users(count));
    }

    static List<User> users(int count) {
        List<User> users = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            users.add(JsonGenerics.user());
        }
        return users;
    }

    private static void addBoth(List<Row> rows, String what, String method, Object value) {
        Function<Object, Object> ours = ourWriting();
        Function<Object, Object> lite = liteWriting();
        byte[] bytes = ((OutputBuffer) ours.apply(value)).toByteArray();
        if (!Arrays.equals(bytes, ((ByteArrayOutputStream) lite.apply(value)).toByteArray())) {
            throw new IllegalStateException(what + " is not written alike");
        }
        rows.add(new Row("write " + what, () -> ours.apply(value), () -> lite.apply(value)));
        rows.add(new Row("read " + what, ourReading(bytes, method), liteReading(bytes)));
    }

    static Function<Object, Object> ourWriting() {
        ObjectWriter writer = HessianSerializer.builder().build().newWriter();
        OutputBuffer buffer = new OutputBuffer();
        return value -> {
            buffer.reset(Integer.MAX_VALUE);
            writer.start(buffer);
            writer.writeObject(value);
            writer.finish();
            return buffer;
        };
    }

    static Function<Object, Object> liteWriting() {
        Hessian2Output output = new Hessian2Output();
        output.setSerializerFactory(new SerializerFactory(HessianCoding.class.getClassLoader()));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        return value -> {
            try {
                bytes.reset();
                output.init(bytes);
                output.writeObject(value);
                output.flushBuffer();
                return bytes;
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        };
    }

    /**
     * Returns an operation that reads a value as the result of a method. The serializer prepares the result type before
     * the first call.
     */
    static Supplier<?> ourReading(byte[] bytes, String method) {
        HessianSerializer serializer = HessianSerializer.builder().build();
        ServiceDescriptor service = ServiceDescriptor.of(People.class);
        serializer.prepare(service);
        ObjectReader reader = serializer.newReader();
        ValueType expected = service.methods().stream()
                .filter(found -> found.name().equals(method))
                .findFirst()
                .orElseThrow()
                .result();
        return () -> {
            reader.start(bytes, 0, bytes.length);
            reader.trust(service);
            return reader.readObject(expected);
        };
    }

    static Supplier<?> liteReading(byte[] bytes) {
        Hessian2Input input = new Hessian2Input(new ByteArrayInputStream(bytes));
        input.setSerializerFactory(new SerializerFactory(HessianCoding.class.getClassLoader()));
        return () -> {
            try {
                input.reset();
                input.init(new ByteArrayInputStream(bytes));
                return input.readObject();
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        };
    }
}
