package tern.rpc.load.sample;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/** The sample provider as a process of its own on free ports, which ends with this one at the latest. */
final class SampleProvider implements AutoCloseable {

    /** As in {@code ./demo}: two processors are shared with the callers, and there is no time to get warm. */
    private static final List<String> JVM_FLAGS =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xms256m", "-Xmx512m");

    private static final long START_SECONDS = 120;
    private static final long STOP_SECONDS = 30;

    private final Process process;
    private final Path log;
    private final Thread stopAtExit = new Thread(this::stop, "stop-sample-provider");

    private SampleProvider(Process process, Path log) {
        this.process = process;
        this.log = log;
        Runtime.getRuntime().addShutdownHook(stopAtExit);
    }

    /**
     * @param jar the executable one
     * @param work exists; gets the log
     * @param properties for the application, such as {@code --rpc.server.threads=8}
     */
    static SampleProvider start(Path jar, Path work, List<String> properties) throws IOException {
        Path log = work.resolve("provider.log");
        Path ready = readyFile(work);
        Files.deleteIfExists(ready);
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse("java"));
        command.addAll(JVM_FLAGS);
        command.addAll(List.of("-jar", jar.toString()));
        command.addAll(List.of("--server.port=0", "--rpc.server.port=0", "--sample.ready-file=" + ready));
        command.addAll(properties);
        return new SampleProvider(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .start(),
                log);
    }

    private static Path readyFile(Path work) {
        return work.resolve("provider.ready");
    }

    /** Blocks until it accepts calls, and tells its ports: {@code rpc.port} and {@code http.port}. */
    Properties awaitReady() throws IOException, InterruptedException {
        Path ready = readyFile(log.resolveSibling(""));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (!Files.exists(ready)) {
            if (process.waitFor(100, TimeUnit.MILLISECONDS)) {
                throw new IOException("the provider did not start; its log is " + log);
            }
            if (System.nanoTime() - end > 0) {
                throw new IOException("the provider was not ready after " + START_SECONDS + " s; its log is " + log);
            }
        }
        Properties ports = new Properties();
        try (Reader file = Files.newBufferedReader(ready)) {
            ports.load(file);
        }
        return ports;
    }

    @Override
    public void close() {
        stop();
        Runtime.getRuntime().removeShutdownHook(stopAtExit);
    }

    /** Its children are those of its stores: if it cannot stop them any more, we do. */
    private void stop() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroy();
        try {
            process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
    }
}
