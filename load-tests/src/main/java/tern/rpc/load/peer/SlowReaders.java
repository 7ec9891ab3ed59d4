package tern.rpc.load.peer;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import tern.rpc.load.peer.SlowReading.Progress;
import tern.rpc.load.replay.Facts;

/**
 * Measures the memory of client and server while readers of streams are too slow. Each reader reads one message per
 * second from an endless server stream. All streams share one connection. Every few seconds, the program prints the
 * live objects and direct buffers of both sides, and the number of messages that the readers have received. The program
 * also prints how many other calls on the same connection were answered within 200 ms. Exits with 1 if a server's
 * memory grows or a stream fails.
 *
 * <pre>load-tests/peers slow1000 [--readers=1000] [--seconds=60] [--peers=tern-proto,grpc-java]</pre>
 */
public final class SlowReaders {

    /** The frameworks whose clients can request the messages of a stream one at a time. */
    static final List<String> PEERS = List.of("tern-proto", "grpc-java", "armeria");

    private static final int LOOKS = 6;
    private static final int MAX_READERS = 1_000;
    private static final int MAX_SECONDS = 3_600;
    private static final long MILLIS = 1_000;
    private static final long CALLS_MILLIS = 200;

    /** How much memory may grow after the first sixth of the run, in bytes. */
    private static final long NOISE_BYTES = 2_000_000;

    private static final double MEGABYTE = 1e6;

    private static final String HELP = """
        Options:
          --peers=NAME,…     default tern-proto,grpc-java; known here: %s
          --readers=N        default 1000
          --seconds=N        default 60
          --stop-after=N     messages after which a reader takes no more; never when not set
        """.formatted(String.join(",", PEERS));

    private final List<String> peers;
    private final int readers;
    private final int seconds;
    private final int stopAfter;

    private SlowReaders(String... options) {
        List<String> chosen = PEERS.subList(0, 2);
        int many = 1_000;
        int time = 60;
        int last = Integer.MAX_VALUE;
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.substring(0, option.length() - value.length())) {
                case "--peers=" -> chosen = List.of(value.split(",", -1));
                case "--readers=" -> many = Selection.number("--readers", value, MAX_READERS);
                case "--seconds=" -> time = Selection.number("--seconds", value, MAX_SECONDS);
                case "--stop-after=" -> last = Selection.number("--stop-after", value, MAX_SECONDS);
                default -> throw new IllegalArgumentException("option '" + option + "' is not known; --help shows all");
            }
        }
        if (!PEERS.containsAll(chosen)) {
            throw new IllegalArgumentException("--peers is " + chosen + "; known here are " + PEERS);
        }
        this.peers = chosen;
        this.readers = many;
        this.seconds = time;
        this.stopAfter = last;
    }

    public static void main(String[] options) {
        if (Arrays.asList(options).contains("--help")) {
            System.out.print(HELP);
            return;
        }
        SlowReaders scene;
        try {
            scene = new SlowReaders(options);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println("flags of each process: " + String.join(" ", Side.FLAGS));
        System.exit(scene.run() ? 0 : 1);
    }

    private boolean run() {
        System.out.println("peer             seconds  server: heap MB  direct MB  client: heap MB  direct MB"
                + "  messages: least  median    most  calls: answered  failed");
        boolean flat = true;
        for (String peer : peers) {
            try {
                flat &= measure(peer);
            } catch (IOException e) {
                System.out.printf("%-15s failed: %s%n", peer, e.getMessage());
                flat = false;
            }
        }
        return flat;
    }

    private boolean measure(String peer) throws IOException {
        String port = String.valueOf(Trial.freePort());
        try (Side server = new Side("server", peer, port)) {
            server.awaitReady();
            try (Side client = new Side("client", peer, port)) {
                client.awaitReady();
                return measure(peer, server, client);
            }
        }
    }

    private boolean measure(String peer, Side server, Side client) throws IOException {
        print(peer, 0, live(server), live(client), new Progress(0, 0, 0, ""), calls(client));
        client.ask("slow " + readers + " " + stopAfter);
        LiveObjects first = look(peer, 1, server, client);
        for (int look = 2; look < LOOKS; look++) {
            look(peer, look, server, client);
        }
        LiveObjects last = look(peer, LOOKS, server, client);
        return verdict(peer, first, last, Progress.of(client.ask("progress")));
    }

    /**
     * Waits until the next measurement is due, prints its results in one line, and returns the sizes of the server's
     * live objects.
     */
    private LiveObjects look(String peer, int look, Side server, Side client) throws IOException {
        pause(seconds * MILLIS / LOOKS);
        LiveObjects held = live(server);
        LiveObjects unread = live(client);
        Progress progress = Progress.of(client.ask("progress"));
        print(peer, seconds * look / LOOKS, held, unread, progress, calls(client));
        return held;
    }

    private static boolean verdict(String peer, LiveObjects first, LiveObjects last, Progress progress) {
        LiveObjects grown = last.since(first);
        boolean flat = grown.heapBytes() < NOISE_BYTES && grown.directBytes() < NOISE_BYTES;
        System.out.printf(
                Locale.ROOT,
                "%-15s %s: heap of the server %+.2f MB, direct %+.2f MB after the first look%n",
                peer,
                flat ? "flat" : "GROWS",
                grown.heapBytes() / MEGABYTE,
                grown.directBytes() / MEGABYTE);
        if (!progress.failure().isEmpty()) {
            System.out.printf("%-15s failed: %s%n", peer, progress.failure());
        }
        return flat && progress.failure().isEmpty();
    }

    private static LiveObjects live(Side side) throws IOException {
        return LiveObjects.of(side.ask("live").split(" ", -1), 1);
    }

    /** Makes unary calls on the connection that the streams use. */
    private static Measurement calls(Side client) throws IOException {
        client.send("run existUser 1 " + CALLS_MILLIS);
        return Measurement.ofClient(client.answerAfter(Duration.ofMillis(CALLS_MILLIS)));
    }

    private static void pause(long millis) throws IOException {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static void print(
            String peer, int second, LiveObjects server, LiveObjects client, Progress progress, Measurement calls) {
        System.out.printf(
                Locale.ROOT,
                "%-15s %8d %16.1f %10.1f %16.1f %10.1f %16d %7d %7d %16d %7d%n",
                peer,
                second,
                server.heapBytes() / MEGABYTE,
                server.directBytes() / MEGABYTE,
                client.heapBytes() / MEGABYTE,
                client.directBytes() / MEGABYTE,
                progress.least(),
                progress.median(),
                progress.most(),
                calls.calls() - calls.errors(),
                calls.errors());
    }
}
