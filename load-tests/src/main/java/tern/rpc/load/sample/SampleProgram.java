package tern.rpc.load.sample;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/** The sample provider or consumer as a process of its own on free ports, which ends with this one at the latest. */
public final class SampleProgram implements AutoCloseable {

    /** As in {@code ./demo}: the quick compiler alone, a collector without threads of its own, a heap that need not grow. */
    private static final List<String> JVM_FLAGS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms256m", "-Xmx512m");

    private static final int START_SECONDS = 120;

    private final Program program;
    private final Path ready;

    private SampleProgram(Program program, Path ready) {
        this.program = program;
        this.ready = ready;
    }

    /**
     * @param name of its log
     * @param jar the executable one
     * @param folder exists; gets the log
     * @param arguments for the application, such as {@code --rpc.server.threads=8}
     * @param readBytesPerSecond no faster than this is read what it writes; 0 for a file, which takes all at once
     */
    public static SampleProgram start(
            String name, Path jar, Path folder, List<String> arguments, int readBytesPerSecond) throws IOException {
        if (!Files.exists(jar)) {
            throw new IOException(jar + " is missing in " + Path.of("").toAbsolutePath()
                    + "; run ./mvnw package -DskipTests, and this in the project's folder");
        }
        Path ready = folder.resolve(name + ".ready").toAbsolutePath();
        Files.deleteIfExists(ready);
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_FLAGS);
        command.addAll(List.of("-jar", jar.toString(), "--server.port=0", "--sample.ready-file=" + ready));
        command.addAll(arguments);
        Path log = folder.resolve(name + ".log");
        Program program = readBytesPerSecond == 0
                ? Program.start(name, log, command)
                : Program.startSlowlyRead(name, log, command, readBytesPerSecond);
        return new SampleProgram(program, ready);
    }

    /** Blocks until it is ready, and tells its ports: {@code http.port}, and of a provider {@code rpc.port}. */
    public Properties awaitReady() throws IOException, InterruptedException {
        program.await(() -> Files.exists(ready), START_SECONDS);
        Properties ports = new Properties();
        try (Reader file = Files.newBufferedReader(ready)) {
            ports.load(file);
        }
        return ports;
    }

    /** Processor time so far, in seconds. */
    public double cpuSeconds() {
        return program.cpuSeconds();
    }

    @Override
    public void close() {
        program.close();
    }
}
