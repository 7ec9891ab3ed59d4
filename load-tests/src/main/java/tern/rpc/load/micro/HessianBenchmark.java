package tern.rpc.load.micro;

import java.io.ByteArrayOutputStream;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Compares how Tern and hessian-lite read and write hessian2. {@link HessianCoding} measures more cases. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HessianBenchmark {

    private static final int USERS = 15;

    @Param({"user", "users", "text1k", "text50k"})
    private String what = "user";

    private final Function<Object, Object> ourWriting = HessianCoding.ourWriting();
    private final Function<Object, Object> liteWriting = HessianCoding.liteWriting();
    private Object value = "";
    private Supplier<?> ourReading = () -> "";
    private Supplier<?> liteReading = () -> "";

    @Setup
    public void encode() {
        value = value(what);
        byte[] bytes = ((ByteArrayOutputStream) liteWriting.apply(value)).toByteArray();
        String method = value instanceof String ? "text" : what;
        ourReading = HessianCoding.ourReading(bytes, method);
        liteReading = HessianCoding.liteReading(bytes);
    }

    private static Object value(String what) {
        return switch (what) {
            case "user" -> Samples.user();
            case "users" -> HessianCoding.users(USERS);
            case "text1k" -> "0123456789abcdef".repeat(64);
            case "text50k" -> "0123456789abcdef".repeat(3_200);
            default -> throw new IllegalArgumentException("'" + what + "' is not known");
        };
    }

    @Benchmark
    public Object writeOurs() {
        return ourWriting.apply(value);
    }

    @Benchmark
    public Object writeLite() {
        return liteWriting.apply(value);
    }

    @Benchmark
    public Object readOurs() {
        return ourReading.get();
    }

    @Benchmark
    public Object readLite() {
        return liteReading.get();
    }
}
