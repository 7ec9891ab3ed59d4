package tern.rpc.load.replay;

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
import java.util.concurrent.CompletableFuture;
import tern.rpc.load.sample.SampleProgram;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The sample provider and the sample consumer as two processes. The consumer generates load on request. */
final class Samples implements AutoCloseable {

    /** The throughput of a busy disk or a pipe to a log collector, in bytes per second. */
    static final int SLOW_LOG_BYTES_PER_SECOND = 1_000_000;

    private static final Path PROVIDER = Path.of("sample-provider", "target", "sample-provider.jar");
    private static final Path CONSUMER = Path.of("sample-consumer", "target", "sample-consumer.jar");
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private final JsonMapper json = JsonMapper.builder().build();
    private final HttpClient http = HttpClient.newHttpClient();
    private final SampleProgram provider;
    private final SampleProgram consumer;
    private final String providerUrl;
    private final String consumerUrl;
    private final int seconds;
    private final MachineLoad machine = new MachineLoad();

    private Samples(
            SampleProgram provider, SampleProgram consumer, String providerUrl, String consumerUrl, int seconds) {
        this.provider = provider;
        this.consumer = consumer;
        this.providerUrl = providerUrl;
        this.consumerUrl = consumerUrl;
        this.seconds = seconds;
    }

    /**
     * Starts both processes.
     *
     * @param folder the folder for the logs
     * @param name the name of these logs
     * @param slowLog whether the provider's output is read slowly
     * @param settings the provider's properties in the form {@code key=value}
     * @param seconds the measured time of each load
     */
    static Samples start(Path folder, String name, boolean slowLog, List<String> settings, int seconds)
            throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("--rpc.server.port=0"));
        settings.forEach(setting -> arguments.add("--" + setting));
        SampleProgram provider = SampleProgram.start(
                name + "-provider", PROVIDER, folder, arguments, slowLog ? SLOW_LOG_BYTES_PER_SECOND : 0);
        try {
            Properties at = provider.awaitReady();
            SampleProgram consumer = consumer(folder, name, at.getProperty("rpc.port"), seconds);
            try {
                Properties consumerAt = consumer.awaitReady();
                return new Samples(
                        provider,
                        consumer,
                        "http://127.0.0.1:" + at.getProperty("http.port"),
                        "http://127.0.0.1:" + consumerAt.getProperty("http.port"),
                        seconds);
            } catch (IOException | InterruptedException | RuntimeException e) {
                consumer.close();
                throw e;
            }
        } catch (IOException | InterruptedException | RuntimeException e) {
            provider.close();
            throw e;
        }
    }

    private static SampleProgram consumer(Path folder, String name, String rpcPort, int seconds) throws IOException {
        List<String> arguments = List.of(
                "--rpc.client.url=127.0.0.1:" + rpcPort,
                "--load.scenario=schedule",
                "--load.warm-up=" + WARM_UP.toSeconds() + "s",
                "--load.duration=" + seconds + "s");
        return SampleProgram.start(name + "-consumer", CONSUMER, folder, arguments, 0);
    }

    /** Runs a load, and blocks until it has ended. */
    Step drive(double rate) throws IOException, InterruptedException {
        double cpuBefore = provider.cpuSeconds();
        MachineLoad.Sums machineBefore = machine.read();
        long start = System.nanoTime();
        HttpResponse<String> answer = http.send(load(rate), HttpResponse.BodyHandlers.ofString());
        double passed = (System.nanoTime() - start) / 1e9;
        double cores = (provider.cpuSeconds() - cpuBefore) / passed;
        return Step.of(
                rate,
                read(answer, "the load").path("report"),
                cores,
                machine.read().busySince(machineBefore));
    }

    private HttpRequest load(double rate) {
        return HttpRequest.newBuilder(URI.create(consumerUrl + "/load?rate=" + rate))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
    }

    /** The result of a load run, and the diagnosis that the provider gave during the run. */
    record Asked(Step step, Answer answer) {}

    Asked driveAndAsk(double rate) throws IOException, InterruptedException {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        Thread asking = new Thread(
                () -> {
                    try {
                        Thread.sleep(WARM_UP.toMillis() + seconds * 700L);
                        answer.complete(ask());
                    } catch (IOException | InterruptedException | RuntimeException e) {
                        answer.completeExceptionally(e);
                    }
                },
                "asks-the-provider");
        asking.start();
        Step step = drive(rate);
        return new Asked(step, answer.join());
    }

    private Answer ask() throws IOException, InterruptedException {
        return Answer.of(get("/actuator/rpc/diagnosis"));
    }

    private JsonNode get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(providerUrl + path))
                .timeout(Duration.ofSeconds(30))
                .build();
        return read(http.send(request, HttpResponse.BodyHandlers.ofString()), path);
    }

    private JsonNode read(HttpResponse<String> answer, String what) throws IOException {
        if (answer.statusCode() != 200) {
            throw new IOException(what + " was answered with " + answer.statusCode() + ": " + answer.body());
        }
        return json.readTree(answer.body());
    }

    @Override
    public void close() {
        consumer.close();
        provider.close();
    }
}
