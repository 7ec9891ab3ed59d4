package tern.rpc.load.peer;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tern.rpc.load.peer.LiveObjects.Counted;
import tern.rpc.load.replay.Facts;

/**
 * Measures a server's memory per idle connection. The benchmark counts live objects and direct buffers before and after
 * thousands of clients connect, and again after each client has made one call. The clients are plain sockets in this
 * process. Some clients connect and make a call before the first count, so that the first count already includes
 * classes and pools. Exits with 1 if a connection is lost.
 *
 * <pre>load-tests/peers idle [--connections=5000] [--peers=tern-proto,grpc-java] [--classes=20]</pre>
 */
public final class IdleConnections {

    private static final List<String> PEERS =
            List.of("tern-proto", "grpc-java", "dubbo-tri", "tern-dubbo", "dubbo-hessian2");

    private static final int EARLIER = 500;
    private static final int MAX_CONNECTIONS = 15_000;
    private static final int MAX_CLASSES = 1_000;

    /** The pause that lets a server finish its remaining work after a call or a handshake. */
    private static final long SETTLE_MILLIS = 2_000;

    private static final String HELP = """
            Options:
              --peers=NAME,…     default %s
                                 known here: %s
              --connections=N    default 5000
              --classes=N        also the classes with the most bytes per connection
            """.formatted(String.join(",", PEERS), String.join(",", BareConnection.PEERS));

    private final List<String> peers;
    private final int connections;
    private final int classes;

    private IdleConnections(String... options) {
        List<String> chosen = PEERS;
        int many = 5_000;
        int shown = 0;
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.substring(0, option.length() - value.length())) {
                case "--peers=" -> chosen = peers(value);
                case "--connections=" -> many = Selection.number("--connections", value, MAX_CONNECTIONS);
                case "--classes=" -> shown = Selection.number("--classes", value, MAX_CLASSES);
                default -> throw new IllegalArgumentException("option '" + option + "' is not known; --help shows all");
            }
        }
        this.peers = chosen;
        this.connections = many;
        this.classes = shown;
    }

    private static List<String> peers(String names) {
        List<String> chosen = List.of(names.split(",", -1));
        if (!BareConnection.PEERS.containsAll(chosen)) {
            throw new IllegalArgumentException("--peers is '" + names + "'; known here are " + BareConnection.PEERS);
        }
        return chosen;
    }

    public static void main(String[] options) {
        if (Arrays.asList(options).contains("--help")) {
            System.out.print(HELP);
            return;
        }
        IdleConnections idle;
        try {
            idle = new IdleConnections(options);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println("flags of each server: " + String.join(" ", Side.FLAGS));
        System.exit(idle.run() ? 0 : 1);
    }

    private boolean run() {
        boolean complete = true;
        System.out.printf(
                "%-15s %-12s %11s %14s %16s %14s %16s%n",
                "peer", "after", "connections", "heap B each", "direct B each", "heap MB in all", "direct MB in all");
        for (String peer : peers) {
            try {
                measure(peer);
            } catch (IOException e) {
                System.out.printf("%-15s failed: %s%n", peer, e.getMessage());
                complete = false;
            }
        }
        return complete;
    }

    private void measure(String peer) throws IOException {
        int port = Trial.freePort();
        List<BareConnection> clients = new ArrayList<>();
        try (Side server = new Side("server", peer, String.valueOf(port))) {
            server.awaitReady();
            connect(clients, EARLIER, peer, port);
            for (BareConnection client : clients) {
                client.call();
            }
            LiveObjects before = look(server);
            connect(clients, connections, peer, port);
            LiveObjects connected = look(server);
            print(peer, "a ping", connected, before);
            for (BareConnection client : clients.subList(EARLIER, clients.size())) {
                client.call();
            }
            LiveObjects called = look(server);
            print(peer, "one call", called, before);
            for (BareConnection client : clients) {
                client.ping(); // The ping fails if the server has closed the connection.
            }
        } finally {
            close(clients);
        }
    }

    private static void connect(List<BareConnection> clients, int more, String peer, int port) throws IOException {
        for (int i = 0; i < more; i++) {
            BareConnection client = BareConnection.to(peer, port);
            clients.add(client);
            client.open();
        }
    }

    private static LiveObjects look(Side server) throws IOException {
        try {
            Thread.sleep(SETTLE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
        return LiveObjects.of(server.ask("live").split(" ", -1), 1);
    }

    private void print(String peer, String after, LiveObjects now, LiveObjects before) {
        LiveObjects grown = now.since(before);
        System.out.printf(
                Locale.ROOT,
                "%-15s %-12s %11d %14.0f %16.0f %14.1f %16.1f%n",
                peer,
                after,
                connections,
                (double) grown.heapBytes() / connections,
                (double) grown.directBytes() / connections,
                now.heapBytes() / 1e6,
                now.directBytes() / 1e6);
        for (Map.Entry<String, Counted> entry : grown.largest(classes).entrySet()) {
            Counted counted = entry.getValue();
            System.out.printf(
                    Locale.ROOT,
                    "    %10.1f B %9.2f of %s%n",
                    (double) counted.bytes() / connections,
                    (double) counted.instances() / connections,
                    entry.getKey());
        }
    }

    private static void close(List<BareConnection> clients) throws IOException {
        for (BareConnection client : clients) {
            client.close();
        }
    }
}
