package tern.rpc.spring.autoconfigure.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.springframework.util.FileSystemUtils;

/**
 * Runs an installed MariaDB server with an empty database as a child process. If MariaDB is not installed, the tests
 * are skipped.
 */
final class MariaDb implements AutoCloseable {

    private static final long START_SECONDS = 60;

    private final Path data;
    private final Process process;
    private final int port;

    private MariaDb(Path data, Process process, int port) {
        this.data = data;
        this.process = process;
        this.port = port;
    }

    static MariaDb start() throws IOException, InterruptedException, SQLException {
        Optional<Path> install = onPath("mariadb-install-db");
        Optional<Path> server = onPath("mariadbd");
        assumeTrue(install.isPresent() && server.isPresent(), "mariadbd and mariadb-install-db are not on the PATH");
        // The folder has a short name, because the path of a Unix socket must be short.
        Path data = Files.createTempDirectory("mariadb");
        String user = "--user=" + System.getProperty("user.name");
        Process made = new ProcessBuilder(
                        install.get().toString(),
                        "--no-defaults",
                        user,
                        "--datadir=" + data,
                        "--auth-root-authentication-method=normal")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(made.waitFor(START_SECONDS, TimeUnit.SECONDS)).isTrue();
        assumeTrue(made.exitValue() == 0, "mariadb-install-db fails, because MariaDB is not completely installed");
        int port = freePort();
        Process process = new ProcessBuilder(List.of(
                        server.get().toString(),
                        "--no-defaults",
                        user,
                        "--datadir=" + data,
                        "--port=" + port,
                        "--socket=" + data.resolve("socket"),
                        "--bind-address=127.0.0.1",
                        "--innodb-flush-log-at-trx-commit=2"))
                .redirectErrorStream(true)
                .redirectOutput(data.resolve("log").toFile())
                .start();
        MariaDb started = new MariaDb(data, process, port);
        try {
            started.awaitReady();
        } catch (SQLException | RuntimeException e) {
            started.close();
            throw e;
        }
        return started;
    }

    private void awaitReady() throws SQLException {
        // Removes the login timeout, which HikariCP sets for the whole JVM. The driver multiplies the timeout by 1,000,
        // and the product can overflow.
        DriverManager.setLoginTimeout(0);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            try (Connection ignored = DriverManager.getConnection(url(), "root", "")) {
                return;
            } catch (SQLException e) {
                if (!process.isAlive() || System.nanoTime() - end > 0) {
                    throw e;
                }
                Thread.onSpinWait();
            }
        }
    }

    int port() {
        return port;
    }

    String url() {
        return url(port);
    }

    /**
     * Returns the JDBC URL.
     *
     * @param way the port of the server, or the port of a proxy in front of the server
     */
    String url(int way) {
        return "jdbc:mariadb://127.0.0.1:" + way + "/test?createDatabaseIfNotExist=true";
    }

    private static Optional<Path> onPath(String program) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.destroy();
        if (!process.waitFor(START_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        FileSystemUtils.deleteRecursively(data);
    }
}
