package garden.run;

import garden.shop.Naps;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The shop application in a separate process. The log of the process is read through a pipe, and a fault can slow down
 * the reading.
 */
public final class Shop implements AutoCloseable {

    private static final int START_SECONDS = 240;
    private static final Pattern OUR_WARNING = Pattern.compile("(WARN|ERROR) .*\\b(tern\\.rpc|t\\.r)\\.");

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();
    private final Process process;
    private final Properties ports = new Properties();
    private final AtomicInteger warnings = new AtomicInteger();
    private volatile int linesPerSecond;

    Shop(Stand stand, List<String> addresses, Path folder) throws IOException, InterruptedException {
        Path ready = folder.resolve("shop.ready");
        Files.deleteIfExists(ready);
        List<String> command = new ArrayList<>(List.of(
                stand.java25() ? java25() : java(),
                "-Xmx224m",
                "-XX:+UseG1GC",
                "-XX:TieredStopAtLevel=1",
                "-XX:MaxDirectMemorySize=64m",
                "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2",
                "-cp",
                classPath(stand),
                "garden.GardenMain",
                "shop",
                "--server.port=0",
                "--rpc.server.port=0",
                "--garden.ready-file=" + ready.toAbsolutePath(),
                "--garden.entrance=" + (stand.web() ? "web" : "rpc"),
                "--spring.application.name=shop",
                "--management.endpoints.web.exposure.include=*",
                "--management.endpoint.health.show-details=always",
                "--rpc.slo.qps=100",
                "--rpc.server.threads=40",
                "--rpc.pools.executors.pack.threads=2",
                "--rpc.pools.executors.wrap.threads=4",
                "--rpc.pools.executors.print.threads=1",
                "--rpc.pools.executors.print.queue-capacity=1",
                "--rpc.pools.executors.print.rejection=caller-runs"));
        command.addAll(stand.settings());
        command.addAll(addresses);
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        Writer log = Files.newBufferedWriter(folder.resolve("shop-" + stand + ".log"));
        Thread reader = new Thread(() -> readLog(log), "log");
        reader.setDaemon(true);
        reader.start();
        for (int i = 0; !Files.exists(ready); i++) {
            if (!process.isAlive() || i > START_SECONDS * 10) {
                throw new IllegalStateException("the shop did not start; see its log in " + folder);
            }
            Thread.sleep(100);
        }
        try (var in = Files.newInputStream(ready)) {
            ports.load(in);
        }
    }

    private static String classPath(Stand stand) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> stand.uses(new File(entry).getName()))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    /** Returns whether a JDK with virtual threads is available. */
    static boolean hasJava25() {
        return Runtime.version().feature() >= 21 || System.getenv("JAVA_25_HOME") != null;
    }

    private static String java25() {
        String home = System.getenv("JAVA_25_HOME");
        return home == null ? java() : Path.of(home, "bin", "java").toString();
    }

    long pid() {
        return process.pid();
    }

    int port(String name) {
        return Integer.parseInt(ports.getProperty(name));
    }

    /** Returns the number of log lines at WARN or above that Tern has written so far. */
    int warnings() {
        return warnings.get();
    }

    /**
     * Limits how many of the application's log lines this class reads per second, which slows down the application's
     * log; 0 for no limit.
     */
    public void quiet(int lines) {
        linesPerSecond = lines;
    }

    private void readLog(Writer log) {
        try (BufferedReader lines = new BufferedReader(
                        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8), 256);
                log) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (linesPerSecond > 0) {
                    Naps.millis(1_000 / linesPerSecond);
                }
                if (OUR_WARNING.matcher(line).find()) {
                    warnings.incrementAndGet();
                }
                log.write(line);
                log.write('\n');
                log.flush();
            }
        } catch (IOException e) {
            // The shop has been stopped, so its output is closed.
        }
    }

    void control(String path) throws IOException, InterruptedException {
        String answer = get("http://127.0.0.1:" + port("control") + path, "*/*");
        if (!answer.equals("ok")) {
            throw new IllegalStateException(path + ": " + answer);
        }
    }

    String diagnosis(String type) throws IOException, InterruptedException {
        return get("http://127.0.0.1:" + port("web") + "/actuator/rpc/diagnosis", type);
    }

    String health() throws IOException, InterruptedException {
        return get("http://127.0.0.1:" + port("web") + "/actuator/health", "application/json");
    }

    private String get(String address, String type) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address))
                .header("Accept", type)
                .timeout(Duration.ofSeconds(20))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
