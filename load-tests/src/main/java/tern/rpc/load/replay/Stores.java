package tern.rpc.load.replay;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import redis.embedded.core.ExecutableProvider;
import tern.rpc.load.sample.Program;

/**
 * Redis, and MariaDB if it is installed. Each store runs as a separate process that contains only the data of the
 * replay.
 */
final class Stores implements AutoCloseable {

    private static final int START_SECONDS = 60;

    private final Program redis;
    private final int redisPort;
    private final String redisName;
    private final @Nullable Program mariaDb;
    private final int mariaDbPort;
    private final @Nullable Path data;

    private Stores(
            Program redis,
            int redisPort,
            String redisName,
            @Nullable Program mariaDb,
            int mariaDbPort,
            @Nullable Path data) {
        this.redis = redis;
        this.redisPort = redisPort;
        this.redisName = redisName;
        this.mariaDb = mariaDb;
        this.mariaDbPort = mariaDbPort;
        this.data = data;
    }

    /**
     * Starts Redis and a database.
     *
     * @param embedded whether to use embedded stores instead of installed servers
     */
    static Stores start(Path folder, boolean embedded) throws IOException, InterruptedException {
        Path installed = embedded ? null : Program.onPath("redis-server");
        Path binary = installed == null ? embeddedRedis(folder) : installed;
        int redisPort = Program.freePort();
        Program redis = Program.start(
                "redis",
                folder.resolve("redis.log"),
                List.of(
                        binary.toString(),
                        "--port",
                        String.valueOf(redisPort),
                        "--bind",
                        "127.0.0.1",
                        "--save",
                        "",
                        "--appendonly",
                        "no"));
        redis.await(() -> answers(redisPort), START_SECONDS);
        String redisName = installed == null ? "Redis from a jar" : "redis-server of this machine";
        Path install = embedded ? null : Program.onPath("mariadb-install-db");
        Path server = embedded ? null : Program.onPath("mariadbd");
        if (install == null || server == null) {
            return new Stores(redis, redisPort, redisName, null, 0, null);
        }
        int port = Program.freePort();
        // The folder contains MariaDB's Unix socket, so its path must be short.
        Path data = Files.createTempDirectory("replay-mariadb");
        try {
            return new Stores(redis, redisPort, redisName, mariaDb(folder, data, install, server, port), port, data);
        } catch (IOException | InterruptedException | RuntimeException e) {
            redis.close();
            throw e;
        }
    }

    private static Path embeddedRedis(Path folder) throws IOException {
        File binary = ExecutableProvider.newJarResourceProvider(folder.toFile()).get();
        return binary.toPath();
    }

    private static Program mariaDb(Path folder, Path data, Path install, Path server, int port)
            throws IOException, InterruptedException {
        String user = "--user=" + System.getProperty("user.name");
        List<String> command = new ArrayList<>(List.of(install.toString(), "--no-defaults", user));
        command.add("--datadir=" + data);
        command.add("--auth-root-authentication-method=normal");
        Process made = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("mariadb-install.log").toFile())
                .start();
        if (!made.waitFor(START_SECONDS, TimeUnit.SECONDS) || made.exitValue() != 0) {
            made.destroyForcibly();
            throw new IOException("MariaDB did not create a database; its log is "
                    + folder.resolve("mariadb-install.log").toAbsolutePath());
        }
        Program mariaDb = Program.start(
                "mariadb",
                folder.resolve("mariadb.log"),
                List.of(
                        server.toString(),
                        "--no-defaults",
                        user,
                        "--datadir=" + data,
                        "--port=" + port,
                        "--socket=" + data.resolve("socket"),
                        "--bind-address=127.0.0.1",
                        "--max-connections=700",
                        "--innodb-flush-log-at-trx-commit=2"));
        mariaDb.await(() -> answers(port), START_SECONDS);
        return mariaDb;
    }

    private static boolean answers(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false; // The server does not accept connections yet.
        }
    }

    int redisPort() {
        return redisPort;
    }

    boolean hasMariaDb() {
        return mariaDb != null;
    }

    int mariaDbPort() {
        return mariaDbPort;
    }

    String description() {
        return redisName + " and " + (hasMariaDb() ? "MariaDB" : "H2 in the provider");
    }

    @Override
    public void close() throws IOException {
        if (mariaDb != null) {
            mariaDb.close();
        }
        redis.close();
        if (data != null) {
            delete(data);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            // The order is reversed, so that the contents of a folder are deleted before the folder.
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
