package tern.rpc.load.replay;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Another program, as a child process of ours that does not outlive us. */
final class Program implements AutoCloseable {

    private static final long STOP_SECONDS = 5;

    private final String name;
    private final Process process;
    private final Path log;
    private final Thread atExit;

    private Program(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        this.atExit = new Thread(process::destroyForcibly, "stop-" + name);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** @param log gets what it writes */
    static Program start(String name, Path log, List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return new Program(name, process, log);
    }

    /** What it writes can be read no faster than this; a slow disk or collector of logs does the same. */
    static Program startSlowlyRead(String name, Path log, List<String> command, int bytesPerSecond) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        SlowReader.start(process.getInputStream(), log, bytesPerSecond);
        return new Program(name, process, log);
    }

    /** Null when the search path has none. */
    static @Nullable Path onPath(String program) {
        String folders = System.getenv().getOrDefault("PATH", "");
        return Arrays.stream(folders.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Something that becomes true when a program is ready. */
    @FunctionalInterface
    interface Readiness {
        boolean isReady() throws IOException;
    }

    void await(Readiness readiness, int seconds) throws IOException, InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (!readiness.isReady()) {
            if (!process.isAlive() || System.nanoTime() > end) {
                throw new IOException(
                        name + (process.isAlive() ? " was not ready after " + seconds + " s" : " ended early")
                                + "; its log is " + log.toAbsolutePath());
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    /** Processor time so far, in seconds. */
    double cpuSeconds() {
        return process.info()
                .totalCpuDuration()
                .map(time -> time.toNanos() / 1e9)
                .orElse(0.0);
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor(STOP_SECONDS, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            return; // we are ending, and the hook has run
        }
    }
}
