package tern.rpc.load.micro;

import java.lang.reflect.Method;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.serialization.JsonMethod;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.json.JsonCodec;
import tern.sample.api.User;
import tools.jackson.databind.json.JsonMapper;

/**
 * Measures the reading and writing of a generic result in JSON. Compares it with the same value without its generic
 * wrapper, and with readers that resolve the type on every call. Everything runs on one thread. All variants run
 * alternately for several rounds, and the first round is discarded. The results are the CPU time and the allocated
 * bytes of that thread.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.JsonGenerics [rounds] [milliseconds]</pre>
 */
public final class JsonGenerics {

    private static final int USERS = 15;

    private JsonGenerics() {}

    /** A generic wrapper for answers, as used by many applications. */
    record Result<T>(int code, @Nullable String message, T data) {}

    interface Users {
        User user();

        Result<User> userResult();

        List<User> users();

        Result<List<User>> usersResult();
    }

    /** A measured case, and the name of the case that it is compared with. */
    private record Row(String name, String base, Supplier<?> operation) {}

    public static void main(String[] arguments) {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
        int millis = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 500;
        List<Row> rows = rows();
        Map<Row, List<Cost>> figures = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Row row : rows) {
                Cost figure = Cost.of(row.operation(), millis);
                if (round > 0) {
                    figures.computeIfAbsent(row, added -> new ArrayList<>()).add(figure);
                }
            }
        }
        print(figures, rounds, millis);
    }

    private static List<Row> rows() {
        User user = user();
        List<User> users = new ArrayList<>();
        for (int i = 0; i < USERS; i++) {
            users.add(user());
        }
        List<Row> rows = new ArrayList<>();
        add(rows, "User", "user", user, "userResult", new Result<>(0, null, user));
        add(rows, "15 Users", "users", users, "usersResult", new Result<>(0, null, users));
        return rows;
    }

    private static void add(List<Row> rows, String what, String plain, Object value, String wrapped, Object result) {
        String write = "write " + what;
        String read = "read " + what;
        byte[] json = written(wrapped, result);
        Method java = Objects.requireNonNull(method(wrapped).javaMethod());
        JsonMapper mapper = new JsonMapper();
        rows.add(new Row(write, write, writing(plain, value)));
        rows.add(new Row(write + " in Result", write, writing(wrapped, result)));
        rows.add(new Row(read, read, reading(plain, written(plain, value))));
        rows.add(new Row(read + " in Result", read, reading(wrapped, json)));
        rows.add(new Row(
                read + " in Result, type resolved per call",
                read,
                () -> mapper.readValue(json, mapper.constructType(java.getGenericReturnType()))));
        rows.add(new Row(read + " in Result, mapper made per call", read, () -> {
            JsonMapper made = new JsonMapper();
            return made.readValue(json, made.constructType(java.getGenericReturnType()));
        }));
    }

    private static MethodDescriptor method(String name) {
        return ServiceDescriptor.of(Users.class).overloads(name).get(0);
    }

    private static JsonMethod json(String name) {
        return new JsonCodec(new JsonMapper()).method(method(name));
    }

    static byte[] written(String method, Object value) {
        OutputBuffer out = new OutputBuffer();
        json(method).writeResult(value, out);
        return out.toByteArray();
    }

    static Supplier<?> writing(String method, Object value) {
        JsonMethod json = json(method);
        OutputBuffer out = new OutputBuffer();
        return () -> {
            out.reset(Integer.MAX_VALUE);
            json.writeResult(value, out);
            return out;
        };
    }

    static Supplier<?> reading(String method, byte[] text) {
        JsonMethod json = json(method);
        return () -> json.readResult(text, 0, text.length);
    }

    static User user() {
        User user = new User();
        user.setId(1);
        user.setName("Doug Lea");
        user.setSex(1);
        user.setBirthday(LocalDate.of(1968, 12, 8));
        user.setEmail("doug@example.org");
        user.setMobile("18612345678");
        user.setAddress("Beijing, Chaoyang, 7 Guanghua Road, building 3, room 1605");
        user.setIcon("https://www.example.org/pictures/3654812.jpg");
        user.setPermissions(List.of(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19));
        user.setStatus(1);
        user.setCreateTime(LocalDateTime.of(2024, 1, 2, 3, 4, 5));
        user.setUpdateTime(LocalDateTime.of(2024, 1, 2, 3, 4, 5));
        return user;
    }

    private static void print(Map<Row, List<Cost>> figures, int rounds, int millis) {
        System.out.printf("JDK %s, one thread, %d rounds of %d ms in turn%n", Runtime.version(), rounds, millis);
        Map<String, Double> medians = new LinkedHashMap<>();
        figures.forEach((row, measured) -> {
            List<Double> cpu = measured.stream()
                    .map(cost -> cost.cpuNanos() / 1e3)
                    .sorted()
                    .toList();
            double median = cpu.get(cpu.size() / 2);
            medians.put(row.name(), median);
            System.out.printf(
                    "%-52s CPU us %8.2f [%.2f-%.2f]  ratio %6.2f  bytes %,10.0f%n",
                    row.name(),
                    median,
                    cpu.get(0),
                    cpu.get(cpu.size() - 1),
                    median / medians.getOrDefault(row.base(), Double.NaN),
                    measured.stream().mapToDouble(Cost::bytes).average().orElse(0));
        });
    }
}
