package tern.rpc.load.peer;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

/**
 * New processes of one compared framework. The processes are warmed up with few callers in every scenario, and then
 * measured. Before the measurement, the first scenario runs once more and its result is discarded, because the JIT
 * compiler might still be running on machines with few processors.
 */
final class Trial implements AutoCloseable {

    private static final int TRAINERS = 8;

    private final List<Side> servers = new ArrayList<>();
    private final List<Side> clients = new ArrayList<>();

    /**
     * Starts the processes.
     *
     * @throws Side.Failure if a process does not start; the message contains the reason
     */
    Trial(String peer, int pairs) throws IOException {
        try {
            List<String> ports = new ArrayList<>();
            for (int i = 0; i < pairs; i++) {
                ports.add(String.valueOf(freePort()));
                servers.add(new Side("server", peer, ports.get(i)));
            }
            for (Side server : servers) {
                server.awaitReady();
            }
            for (int i = 0; i < pairs; i++) {
                clients.add(new Side("client", peer, String.join(",", ports)));
            }
            for (Side client : clients) {
                client.awaitReady();
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        }
    }

    /**
     * Runs the scenarios.
     *
     * @param training the warm-up time of each scenario, in milliseconds
     * @param millis the measured time of each scenario, in milliseconds
     * @param measured receives each result immediately, so that a later failure does not discard earlier results
     */
    void run(List<Scene> scenes, int training, int millis, BiConsumer<Scene, Measurement> measured) throws IOException {
        for (Scene scene : scenes) {
            run(scene, Math.min(TRAINERS, scene.callers()), training);
        }
        run(scenes.get(0), scenes.get(0).callers(), training);
        for (Scene scene : scenes) {
            ProcessCost before = used("before");
            Measurement clients = run(scene, scene.callers(), millis);
            measured.accept(scene, clients.withServer(used("after").since(before)));
        }
    }

    private ProcessCost used(String when) throws IOException {
        ProcessCost used = ProcessCost.NONE;
        for (Side server : servers) {
            used = used.plus(ProcessCost.of(server.ask(when).split(" ", -1), 1));
        }
        return used;
    }

    Measurement run(Scene scene, int callers, long millis) throws IOException {
        for (Side client : clients) {
            client.send("run " + scene.call() + " " + callers + " " + millis);
        }
        List<Measurement> results = new ArrayList<>();
        for (Side client : clients) {
            results.add(Measurement.ofClient(client.answerAfter(Duration.ofMillis(millis))));
        }
        return results.stream().reduce(Measurement::and).orElseThrow();
    }

    /** Returns each server's resources, then each client's resources. */
    List<Resources> resources() throws IOException {
        List<Resources> held = new ArrayList<>();
        for (Side side : sides()) {
            held.add(Resources.of(side.ask("resources").split(" ", -1), 1));
        }
        return held;
    }

    private List<Side> sides() {
        return Stream.concat(servers.stream(), clients.stream()).toList();
    }

    @Override
    public void close() {
        sides().forEach(Side::close);
    }
}
