package tern.rpc.load.cluster;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tern.rpc.load.sample.SampleProgram;

/**
 * A sample provider in a separate process. The process can be stopped, killed, and restarted on the same port. Not
 * thread-safe.
 */
final class Provider implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMillis(500);
    private static final Pattern COUNT = Pattern.compile("\"COUNT\",\"value\":([0-9.E]+)");

    private final String name;
    private final Path jar;
    private final Path folder;
    private final int port;
    private final List<String> arguments;
    private final HttpClient http = HttpClient.newHttpClient();
    private SampleProgram program;
    private String actuator = "";

    private Provider(String name, Path jar, Path folder, int port, List<String> arguments) throws IOException {
        this.name = name;
        this.jar = jar;
        this.folder = folder;
        this.port = port;
        this.arguments = arguments;
        this.program = launch();
    }

    /**
     * Starts the process without waiting until it is ready.
     *
     * @param arguments additional arguments of the application
     */
    static Provider start(String name, Path jar, Path folder, int port, String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--rpc.server.port=" + port);
        return new Provider(name, jar, folder, port, List.copyOf(all));
    }

    private SampleProgram launch() throws IOException {
        return SampleProgram.start(name, jar, folder, arguments, 0);
    }

    void awaitReady() throws IOException, InterruptedException {
        Properties ports = program.awaitReady();
        actuator = "http://127.0.0.1:" + ports.getProperty("http.port") + "/actuator/metrics/rpc.server.requests";
    }

    String name() {
        return name;
    }

    int port() {
        return port;
    }

    /** Stops the process with SIGTERM, and starts it again after it has ended. */
    void restart() throws IOException, InterruptedException {
        program.close();
        startAgain();
    }

    void kill() throws InterruptedException {
        program.kill();
    }

    void startAgain() throws IOException, InterruptedException {
        program = launch();
        awaitReady();
    }

    void signal(String signal) throws IOException, InterruptedException {
        program.signal(signal);
    }

    /**
     * Returns the number of calls over the given protocol since the start of the process; -1 if the process does not
     * respond.
     */
    long served(Wire wire) throws InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(actuator + "?tag=protocol:" + wire.protocol()))
                .timeout(PATIENCE)
                .build();
        try {
            HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
            Matcher count = COUNT.matcher(answer.body());
            return count.find() ? (long) Double.parseDouble(count.group(1)) : 0;
        } catch (IOException e) {
            return -1;
        }
    }

    @Override
    public void close() {
        program.close();
    }
}
