package tern.rpc.load.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Tern beside others, in turn: for each round and peer a fresh pair of processes with the same flags, trained with few
 * callers, then every scene. CPU per call, client and server, decides; medians over the rounds are printed.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.peer.PeerComparison [rounds] [millis] [callers] [peers]</pre>
 *
 * The peers are separated by commas; the ratios are to the first.
 */
public final class PeerComparison {

    private static final List<String> SCENES = List.of("existUser", "createUser", "getUser", "listUser", "1KB", "50KB");
    private static final int TRAINERS = 8;

    private PeerComparison() {}

    /** What one scene of one round showed. */
    private record Result(
            double clientMicros,
            double serverMicros,
            double clientBytes,
            double serverBytes,
            double perSecond,
            double p99Millis,
            long errors) {}

    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 3;
        int millis = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2_000;
        int callers = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 200;
        List<String> peers = arguments.length > 3 ? List.of(arguments[3].split(",")) : Peer.NAMES;
        peers.forEach(Peer::named); // an unknown one is told at once
        Map<String, List<Result>> results = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (String peer : peers) {
                measure(peer, millis, callers, results);
            }
        }
        System.out.printf(
                "JDK %s, %d processors, %d callers, one connection, %d rounds of %d ms%n",
                Runtime.version(), Runtime.getRuntime().availableProcessors(), callers, rounds, millis);
        System.out.printf(
                "%-10s %-16s %9s %9s %9s %6s %9s %9s %10s %8s %6s%n",
                "scene",
                "peer",
                "client us",
                "server us",
                "sum us",
                "ratio",
                "client B",
                "server B",
                "calls/s",
                "p99 ms",
                "errors");
        for (String scene : SCENES) {
            double first = Double.NaN;
            for (String peer : peers) {
                Result median = median(results.getOrDefault(scene + " " + peer, List.of()));
                double sum = median.clientMicros + median.serverMicros;
                first = Double.isNaN(first) ? sum : first;
                System.out.printf(
                        "%-10s %-16s %9.1f %9.1f %9.1f %6.2f %9.0f %9.0f %10.0f %8.2f %6d%n",
                        scene,
                        peer,
                        median.clientMicros,
                        median.serverMicros,
                        sum,
                        sum / first,
                        median.clientBytes,
                        median.serverBytes,
                        median.perSecond,
                        median.p99Millis,
                        median.errors);
            }
        }
    }

    private static Result median(List<Result> rounds) {
        List<Result> sorted = rounds.stream()
                .sorted((one, other) ->
                        Double.compare(one.clientMicros + one.serverMicros, other.clientMicros + other.serverMicros))
                .toList();
        return sorted.get(sorted.size() / 2);
    }

    private static void measure(String peer, int millis, int callers, Map<String, List<Result>> results)
            throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        try (Side server = new Side("server", peer, port);
                Side client = new Side("client", peer, port)) {
            for (String scene : SCENES) {
                client.ask("run " + scene + " " + TRAINERS + " " + millis);
            }
            client.ask("run " + SCENES.get(0) + " " + callers + " " + millis);
            for (String scene : SCENES) {
                long[] clientBefore = numbers(client.ask("cpu"));
                long[] serverBefore = numbers(server.ask("cpu"));
                long[] ran = numbers(client.ask("run " + scene + " " + callers + " " + millis));
                long[] clientAfter = numbers(client.ask("cpu"));
                long[] serverAfter = numbers(server.ask("cpu"));
                double calls = ran[0];
                results.computeIfAbsent(scene + " " + peer, key -> new ArrayList<>())
                        .add(new Result(
                                (clientAfter[0] - clientBefore[0]) / calls / 1e3,
                                (serverAfter[0] - serverBefore[0]) / calls / 1e3,
                                ran[4] / calls,
                                (serverAfter[1] - serverBefore[1]) / calls,
                                calls * 1_000 / millis,
                                ran[3] / 1e6,
                                ran[1]));
            }
        }
    }

    private static long[] numbers(String answer) {
        String[] words = answer.split(" ");
        long[] numbers = new long[words.length - 1];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = Long.parseLong(words[i + 1]);
        }
        return numbers;
    }

    /** A process with one side of a peer. */
    private static final class Side implements AutoCloseable {

        private static final String MARK = "PEER ";

        private final Process process;
        private final BufferedReader answers;
        private final OutputStream commands;

        Side(String side, String peer, int port) throws IOException {
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xms512m",
                            "-Xmx512m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            PeerProcess.class.getName(),
                            side,
                            peer,
                            String.valueOf(port))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            answers = process.inputReader(StandardCharsets.UTF_8);
            commands = process.getOutputStream();
            read();
        }

        String ask(String command) throws IOException {
            commands.write((command + "\n").getBytes(StandardCharsets.UTF_8));
            commands.flush();
            return read();
        }

        private String read() throws IOException {
            String line;
            while ((line = answers.readLine()) != null) {
                if (line.startsWith(MARK)) {
                    return line.substring(MARK.length());
                }
            }
            throw new IOException("a process of the comparison ended early");
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }
}
