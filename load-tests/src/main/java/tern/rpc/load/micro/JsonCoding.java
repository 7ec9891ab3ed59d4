package tern.rpc.load.micro;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ValueType;
import tern.rpc.load.micro.SideBySide.Row;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.json.JsonCodec;
import tern.sample.api.User;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.ObjectWriter;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares how Tern and a plain Jackson mapper read and write JSON. Tern enforces limits. The mapper has no limits and
 * has already resolved its types. Tern and the plain mapper also differ in how they handle dates, records and buffers.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.JsonCoding [rounds] [milliseconds] [part of a
 * row's name]</pre>
 */
public final class JsonCoding {

    private static final int COUNT = 15;

    private JsonCoding() {}

    record Address(String street, int number, List<String> tags) {}

    record Order(long id, String customer, double price, boolean paid, Address address) {}

    interface Values {
        User user();

        List<User> users();

        Order order();

        List<Order> orders();

        Map<String, Integer> map();

        String text();
    }

    public static void main(String[] arguments) {
        Order order =
                new Order(1L << 40, "Doug Lea", 12.5, true, new Address("Main Street", 12, List.of("one", "two")));
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            orders.add(order);
        }
        List<Row> rows = new ArrayList<>();
        add(rows, "a user with dates", "user", JsonGenerics.user());
        add(rows, COUNT + " users", "users", HessianCoding.users(COUNT));
        add(rows, "a record", "order", order);
        add(rows, COUNT + " records", "orders", orders);
        add(rows, "a map of 3", "map", Map.of("chess", 1800, "go", 5, "bridge", 12));
        add(rows, "1 KB of text", "text", "0123456789abcdef".repeat(64));
        SideBySide.print("mapper", rows, arguments);
    }

    private static void add(List<Row> rows, String what, String method, Object value) {
        MethodDescriptor descriptor =
                ServiceDescriptor.of(Values.class).overloads(method).get(0);
        ValueType result = descriptor.result();
        JsonMethod ours = new JsonCodec(new JsonMapper()).method(descriptor);
        OutputBuffer out = new OutputBuffer();
        JsonMapper mapper = new JsonMapper();
        JavaType type = mapper.constructType(result.generic());
        ObjectWriter writer = mapper.writerFor(type);
        ObjectReader reader = mapper.readerFor(type);
        ours.writeResult(value, out);
        byte[] json = out.toByteArray();
        if (!mapper.readTree(json).equals(mapper.readTree(writer.writeValueAsBytes(value)))) {
            throw new IllegalStateException(what + " is not written alike");
        }
        rows.add(new Row(
                "write " + what,
                () -> {
                    out.reset(Integer.MAX_VALUE);
                    ours.writeResult(value, out);
                    return out;
                },
                () -> writer.writeValueAsBytes(value)));
        rows.add(new Row("read " + what, () -> ours.readResult(json, 0, json.length), () -> reader.readValue(json)));
    }
}
