package tern.rpc.load.sample;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

/**
 * The sample provider or consumer as a separate process on free ports. The process is killed when this process ends.
 */
public final class SampleProgram implements AutoCloseable {

    /**
     * The JVM flags, which {@code ./demo} also uses: only the C1 compiler, a single-threaded garbage collector, and a
     * heap of 256 to 512 MB.
     */
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
     * Starts the application.
     *
     * @param name the log's name
     * @param jar the executable jar
     * @param folder an existing folder for the log
     * @param arguments the application's arguments, such as {@code --rpc.server.threads=8}
     * @param readBytesPerSecond the maximum rate at which the output is read; 0 to write the output to a file without a
     *     limit
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

    /**
     * Blocks until the application is ready. Returns its ports: {@code http.port} and, for a provider, also
     * {@code rpc.port}.
     */
    public Properties awaitReady() throws IOException, InterruptedException {
        program.await(() -> Files.exists(ready), START_SECONDS);
        Properties ports = new Properties();
        try (Reader file = Files.newBufferedReader(ready)) {
            ports.load(file);
        }
        return ports;
    }

    /**
     * Sends a signal to the program.
     *
     * @param name the signal's name, such as {@code STOP}
     */
    public void signal(String name) throws IOException, InterruptedException {
        program.signal(name);
    }

    /** Kills the program without waiting until its calls have drained. */
    public void kill() throws InterruptedException {
        program.kill();
    }

    /** Returns the CPU time of the process so far, in seconds. */
    public double cpuSeconds() {
        return program.cpuSeconds();
    }

    @Override
    public void close() {
        program.close();
    }
}
