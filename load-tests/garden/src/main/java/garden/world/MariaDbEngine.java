package garden.world;

import garden.shop.Naps;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.List;

/** The MariaDB server that is installed on this machine, started with a separate data directory. */
final class MariaDbEngine implements Engine {

    private static final int START_SECONDS = 60;

    private final Process server;
    private final int port;

    MariaDbEngine() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        Path folder = Files.createTempDirectory("garden-mariadb");
        Path data = folder.resolve("data");
        run("mariadb-install-db", "--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal");
        server = new ProcessBuilder(
                        "mariadbd",
                        "--no-defaults",
                        "--user=" + System.getProperty("user.name"),
                        "--datadir=" + data,
                        "--socket=" + folder.resolve("socket"),
                        "--bind-address=127.0.0.1",
                        "--port=" + port,
                        "--innodb-lock-wait-timeout=2",
                        "--innodb-buffer-pool-size=32M",
                        "--init-file=" + Files.writeString(folder.resolve("init"), "create database shop;\n"))
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        awaitStart(folder);
    }

    private static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            if (process.waitFor() != 0) {
                throw new IOException(command[0] + " ended with " + process.exitValue());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        }
    }

    private void awaitStart(Path folder) throws IOException {
        SQLException last = null;
        for (int i = 0; i < START_SECONDS * 5 && server.isAlive(); i++) {
            try {
                DriverManager.getConnection(url(port), user(), "").close();
                return;
            } catch (SQLException e) {
                last = e;
                Naps.millis(200);
            }
        }
        throw new IOException("MariaDB did not start; its log is in " + folder, last);
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public String user() {
        return "root";
    }

    @Override
    public String url(int port) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/shop";
    }

    @Override
    public List<String> schema() {
        return List.of(
                "create table stock (id int primary key, quantity int)",
                "insert into stock select seq - 1, 1000000 from seq_1_to_100",
                "create table orders (id int primary key, customer int, total int)",
                "insert into orders select seq, mod(seq, 997), mod(seq, 89) from seq_1_to_4000",
                "create function tax(millis int) returns int reads sql data "
                        + "begin do sleep(millis / 1000); return millis; end");
    }

    @Override
    public void stop() {
        server.destroy();
    }
}
