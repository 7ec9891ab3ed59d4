package tern.sample.provider.store;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.FileSystemUtils;
import redis.embedded.core.ExecutableProvider;

/**
 * Runs a real Redis server as a child process, on a free port of the loopback interface and without persistence. This
 * class starts the binary itself. The server class of the library embedded-redis would stop Redis in a JVM shutdown
 * hook, before the calls have drained.
 */
final class EmbeddedRedis implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(EmbeddedRedis.class);
    private static final int ATTEMPTS = 3;

    private final Path folder;
    private final Process process;
    private final int port;

    private EmbeddedRedis(Path folder, Process process, int port) {
        this.folder = folder;
        this.process = process;
        this.port = port;
    }

    static EmbeddedRedis start() throws IOException {
        Path folder = Files.createTempDirectory("sample-redis");
        File binary = ExecutableProvider.newJarResourceProvider(folder.toFile()).get();
        String output = "";
        for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
            int port = freePort(); // another process might occupy the port before Redis opens it
            Process process = new ProcessBuilder(
                            binary.getAbsolutePath(),
                            "--port",
                            String.valueOf(port),
                            "--bind",
                            "127.0.0.1",
                            "--save",
                            "",
                            "--appendonly",
                            "no",
                            "--daemonize",
                            "no")
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            output = readUntilReady(process);
            if (process.isAlive()) {
                log.info("Embedded Redis on port {}, process {}", port, process.pid());
                return new EmbeddedRedis(folder, process, port);
            }
        }
        FileSystemUtils.deleteRecursively(folder);
        throw new IOException("Redis did not start; give a server with spring.data.redis.url. It said:\n" + output);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /**
     * Reads the output until Redis accepts connections or has exited. Redis prints nothing after that, so the rest of
     * the output is not read.
     */
    private static String readUntilReady(Process process) throws IOException {
        StringBuilder output = new StringBuilder();
        var reader = process.inputReader();
        String line = reader.readLine();
        while (line != null && !line.contains("eady to accept connections")) {
            output.append(line).append('\n');
            line = reader.readLine();
        }
        if (line == null) {
            waitFor(process);
        }
        return output.toString();
    }

    private static void waitFor(Process process) {
        try {
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        waitFor(process);
        FileSystemUtils.deleteRecursively(folder);
        log.info("Embedded Redis stopped");
    }
}
