package tern.rpc.load.micro;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import tern.sample.api.User;

/** Measures the reading and writing of plain and generic results in JSON. {@link JsonGenerics} measures more cases. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class JsonBenchmark {

    /** The method of {@link JsonGenerics.Users} whose result is read and written. */
    @Param({"user", "userResult", "users", "usersResult"})
    private String method = "user";

    private Supplier<?> writing = () -> "";
    private Supplier<?> reading = () -> "";

    @Setup
    public void encode() {
        Object value = value(method);
        writing = JsonGenerics.writing(method, value);
        reading = JsonGenerics.reading(method, JsonGenerics.written(method, value));
    }

    private static Object value(String method) {
        User user = Samples.user();
        List<User> users = HessianCoding.users(15);
        return switch (method) {
            case "user" -> user;
            case "userResult" -> new JsonGenerics.Result<>(0, null, user);
            case "users" -> users;
            case "usersResult" -> new JsonGenerics.Result<>(0, null, users);
            default -> throw new IllegalArgumentException("'" + method + "' is not known");
        };
    }

    @Benchmark
    public Object write() {
        return writing.get();
    }

    @Benchmark
    public Object read() {
        return reading.get();
    }
}
