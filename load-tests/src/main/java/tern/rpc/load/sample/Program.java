package tern.rpc.load.sample;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A child process that is killed when this process ends. */
public final class Program implements AutoCloseable {

    // The time within which a program must end. A provider drains its calls before it ends.
    private static final long STOP_SECONDS = 30;

    private final String name;
    private final Process process;
    private final Path log;
    private final Thread atExit;

    private Program(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        this.atExit = new Thread(this::stopAtExit, "stop-" + name);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    /** @param log the file for the output */
    public static Program start(String name, Path log, List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        return new Program(name, process, log);
    }

    /** Starts a program whose output is read at a limited rate, which simulates a slow disk or log collector. */
    static Program startSlowlyRead(String name, Path log, List<String> command, int bytesPerSecond) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        SlowReader.start(process.getInputStream(), log, bytesPerSecond);
        return new Program(name, process, log);
    }

    /**
     * Starts a program whose output is read line by line.
     *
     * @param log the file for standard error
     * @param lines receives each line of standard output, on a separate thread
     */
    public static Program startRead(String name, Path log, List<String> command, Consumer<String> lines)
            throws IOException {
        Process process =
                new ProcessBuilder(command).redirectError(log.toFile()).start();
        Thread reader = new Thread(() -> process.inputReader().lines().forEach(lines), "read-" + name);
        reader.setDaemon(true);
        reader.start();
        return new Program(name, process, log);
    }

    /** Writes one line to the process's standard input. */
    public void enter(String line) throws IOException {
        process.outputWriter().append(line).append('\n').flush();
    }

    /** Closes the process's standard input. Some programs end when their input ends. */
    public void endInput() throws IOException {
        process.getOutputStream().close();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns a program's path; null if the program is not on the search path. */
    public static @Nullable Path onPath(String program) {
        String folders = System.getenv().getOrDefault("PATH", "");
        return Arrays.stream(folders.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** A condition that becomes true when a program is ready. */
    @FunctionalInterface
    public interface Readiness {
        boolean isReady() throws IOException;
    }

    public void await(Readiness readiness, int seconds) throws IOException, InterruptedException {
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

    /** Returns the CPU time of the process so far, in seconds. */
    public double cpuSeconds() {
        return process.info()
                .totalCpuDuration()
                .map(time -> time.toNanos() / 1e9)
                .orElse(0.0);
    }

    /**
     * Sends a signal to the process.
     *
     * @param name the signal's name as {@code kill} expects it, such as {@code STOP}
     */
    void signal(String name) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
    }

    /**
     * Kills the process without waiting until its calls have drained. Also kills the child processes, because the
     * killed process can no longer stop them.
     */
    void kill() throws InterruptedException {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly().waitFor();
        children.forEach(ProcessHandle::destroyForcibly);
        close();
    }

    /**
     * Stops the process and its child processes, such as databases, because the process itself might fail to stop its
     * children.
     */
    @Override
    public void close() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroy();
        try {
            process.waitFor(STOP_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException e) {
            return; // The JVM is shutting down, so the shutdown hook is running or has run.
        }
    }

    private void stopAtExit() {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
    }
}
