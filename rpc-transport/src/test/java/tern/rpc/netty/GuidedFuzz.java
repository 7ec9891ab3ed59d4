package tern.rpc.netty;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import tern.rpc.netty.dubbo.DubboFuzzTest;
import tern.rpc.netty.triple.HttpFuzzTest;
import tern.rpc.serialization.hessian.HessianFuzzTest;
import tern.rpc.serialization.json.JsonBombsTest;
import tern.rpc.transport.FuzzTarget;

/** The targets of {@code load-tests/fuzz}, by name. Jazzer runs the target named by {@code -Dtern.fuzz.target}. */
public final class GuidedFuzz {

    static final Map<String, Supplier<FuzzTarget>> TARGETS = targets();

    /**
     * Contains the target named by the system property {@code tern.fuzz.target}. This is a separate class, so that the
     * property is not read when saved inputs are replayed.
     */
    private static final class Chosen {
        static final FuzzTarget TARGET = Objects.requireNonNull(
                        TARGETS.get(System.getProperty("tern.fuzz.target", "")), "-Dtern.fuzz.target")
                .get();
    }

    private GuidedFuzz() {}

    private static Map<String, Supplier<FuzzTarget>> targets() {
        Map<String, Supplier<FuzzTarget>> targets = new LinkedHashMap<>();
        targets.put("hessian2", HessianFuzzTest::target);
        targets.put("dubbo", DubboFuzzTest::target);
        targets.put("hpack", HttpFuzzTest::hpack);
        targets.put("http1", HttpFuzzTest::http1);
        targets.put("json", JsonBombsTest::target);
        targets.put("connect", HttpFuzzTest::connect);
        return targets;
    }

    /**
     * Called once by Jazzer. Runs the seeds, so that Jazzer does not attribute the coverage of class loading to the
     * first input.
     */
    public static void fuzzerInitialize() throws Exception {
        for (byte[] seed : Chosen.TARGET.seeds()) {
            fuzzerTestOneInput(seed);
        }
    }

    /** Called by Jazzer with each input. */
    public static void fuzzerTestOneInput(byte[] input) throws Exception {
        Chosen.TARGET.target().feed(input);
    }

    /** Writes the seeds of a target to a folder. The arguments are the name of the target and the folder. */
    public static void main(String[] arguments) throws Exception {
        FuzzTarget target =
                Objects.requireNonNull(TARGETS.get(arguments[0]), arguments[0]).get();
        try (AutoCloseable resources = target.resources()) {
            write(target, Path.of(arguments[1]));
        }
    }

    private static void write(FuzzTarget target, Path folder) throws IOException {
        Files.createDirectories(folder);
        for (int i = 0; i < target.seeds().size(); i++) {
            Files.write(folder.resolve("seed-" + i), target.seeds().get(i));
        }
    }
}
