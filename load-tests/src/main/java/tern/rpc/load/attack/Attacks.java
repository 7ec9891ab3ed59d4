package tern.rpc.load.attack;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tern.rpc.load.attack.HonestCallers.Outcome;
import tern.rpc.load.replay.Facts;

/**
 * Runs attacks. Each attack targets a new server with a heap of 256 MB. Legitimate callers send 200 calls per second to
 * this server from another address. Prints the share of answered legitimate calls and their p99 before, during and
 * after the attack. Also prints the server process's peak memory and CPU time, and the reactions that the attacker saw.
 * Exits with 1 if fewer than 95 % of the legitimate calls during an attack on Tern are answered.
 *
 * <pre>load-tests/attacks [--attacks=gzip,silent] [--peers=tern,grpc-java] [--seconds=15] [--heap=256m]
 * [--logs=DIRECTORY]</pre>
 */
public final class Attacks {

    private static final List<String> PEERS = List.of("tern", "grpc-java");
    private static final double WANTED_SHARE = 95;
    private static final int WARM_UP_MILLIS = 6_000;
    private static final int QUIET_MILLIS = 4_000;
    private static final int AFTER_MILLIS = 4_000;
    private static final int SETTLE_MILLIS = 2_000;
    private static final double TICKS = 100; // clock ticks per second on Linux (USER_HZ)

    private final List<Attack> attacks;
    private final List<String> peers;
    private final int seconds;
    private final String heap;
    private final @Nullable Path logs;

    private Attacks(String... options) {
        List<Attack> chosen = List.of(Attack.values());
        List<String> servers = PEERS;
        int time = 15;
        String memory = "256m";
        Path directory = null;
        for (String option : options) {
            String value = option.substring(option.indexOf('=') + 1);
            switch (option.substring(0, option.length() - value.length())) {
                case "--attacks=" ->
                    chosen = Arrays.stream(value.split(",", -1))
                            .map(Attack::named)
                            .toList();
                case "--peers=" -> servers = List.of(value.split(",", -1));
                case "--seconds=" -> time = Integer.parseInt(value);
                case "--heap=" -> memory = value;
                case "--logs=" -> directory = Path.of(value);
                default -> throw new IllegalArgumentException("option '" + option + "' is not known; --help shows all");
            }
        }
        if (!PEERS.containsAll(servers)) {
            throw new IllegalArgumentException("--peers is " + servers + "; expected some of " + PEERS);
        }
        this.attacks = chosen;
        this.peers = servers;
        this.seconds = time;
        this.heap = memory;
        this.logs = directory;
    }

    public static void main(String[] options) throws IOException {
        if (Arrays.asList(options).contains("--help")) {
            System.out.println(
                    "Options: --attacks=NAME,…  --peers=tern,grpc-java  --seconds=15  --heap=256m  --logs=DIRECTORY");
            for (Attack attack : Attack.values()) {
                System.out.printf("  %-22s %s%n", attack.title(), attack.what());
            }
            return;
        }
        Attacks all;
        try {
            all = new Attacks(options);
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(2);
            return;
        }
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.exit(all.run() ? 0 : 1);
    }

    private boolean run() throws IOException {
        System.out.printf(
                "%-22s %-10s %26s %26s %22s %9s %7s  %s%n",
                "attack",
                "server",
                "honest calls: before, p99",
                "during, p99",
                "after, p99",
                "memory MB",
                "CPU s",
                "the attacker met");
        boolean held = true;
        for (Attack attack : attacks) {
            for (String peer : peers) {
                if (peer.equals("tern") || attack.isForAnyServer()) {
                    held &= measure(attack, peer) || !peer.equals("tern");
                }
            }
        }
        return held;
    }

    private boolean measure(Attack attack, String peer) throws IOException {
        int port = freePort();
        Process server = start(List.of("-Xmx" + heap), TargetServer.class, peer, String.valueOf(port));
        List<Process> started = new ArrayList<>(List.of(server));
        try (HonestCallers honest = serving(server, port, attack, peer)) {
            pause(WARM_UP_MILLIS);
            honest.look();
            pause(QUIET_MILLIS);
            Outcome before = honest.look();
            double cpu = cpuSeconds(server);
            Process attacker =
                    start(List.of("-Xmx1g"), Attacker.class, attack.title(), "" + port, String.valueOf(seconds));
            started.add(attacker);
            String met = read(attacker.inputReader());
            Outcome during = honest.look();
            cpu = cpuSeconds(server) - cpu;
            pause(SETTLE_MILLIS);
            honest.look();
            pause(AFTER_MILLIS);
            Outcome after = honest.look();
            System.out.printf(
                    Locale.ROOT,
                    "%-22s %-10s %26s %26s %22s %9d %7.1f  %s%n",
                    attack.title(),
                    peer,
                    text(before),
                    text(during),
                    text(after),
                    mostMemory(server),
                    cpu,
                    met);
            if (during.failed() > 0) {
                System.out.println("    failed: " + during.reasons());
            }
            return during.share() >= WANTED_SHARE && after.share() >= WANTED_SHARE;
        } finally {
            started.forEach(Process::destroyForcibly);
        }
    }

    private HonestCallers serving(Process server, int port, Attack attack, String peer) throws IOException {
        String line = read(server.inputReader());
        if (!line.equals(TargetServer.READY)) {
            throw new IOException("the server did not start: " + line);
        }
        drain(server, logs == null ? Writer.nullWriter() : logOf(logs, attack, peer));
        return new HonestCallers(port, attack.takesConnections());
    }

    private static Writer logOf(Path directory, Attack attack, String peer) throws IOException {
        Files.createDirectories(directory);
        return Files.newBufferedWriter(directory.resolve(attack.title() + "-" + peer + ".log"));
    }

    /**
     * Reads the server's output. If nobody read the output, the pipe would fill, and the server's threads would block
     * when they log.
     */
    private static void drain(Process server, Writer log) {
        Thread reader = new Thread(() -> {
            try (log) {
                server.inputReader().transferTo(log);
            } catch (IOException e) {
                // The output can no longer be read, because the process has ended.
            }
        });
        reader.setDaemon(true);
        reader.start();
    }

    private static String text(Outcome outcome) {
        return String.format(
                Locale.ROOT, "%.1f %% of %d, %.1f ms", outcome.share(), outcome.calls(), outcome.p99Millis());
    }

    private static Process start(List<String> flags, Class<?> program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /** Skips the log lines in the output, and returns the first other line. */
    private static String read(BufferedReader output) throws IOException {
        String line;
        while ((line = output.readLine()) != null) {
            if (line.equals(TargetServer.READY) || line.startsWith("connections ")) {
                return line;
            }
        }
        return "nothing, since the process has ended";
    }

    /**
     * Returns a port that is free on all addresses. Sockets of the previous attack might still occupy a port on some
     * loopback addresses.
     */
    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns the peak resident memory in bytes, see proc(5); -1 if the process has ended. */
    private static long mostMemory(Process process) throws IOException {
        Path status = Path.of("/proc", String.valueOf(process.pid()), "status");
        if (!Files.exists(status)) {
            return -1;
        }
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024)
                .findFirst()
                .orElse(-1);
    }

    /** Returns the total user and system CPU time of the process, in seconds. */
    private static double cpuSeconds(Process process) throws IOException {
        Path stat = Path.of("/proc", String.valueOf(process.pid()), "stat");
        if (!Files.exists(stat)) {
            return Double.NaN;
        }
        String text = Files.readString(stat);
        String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ", -1);
        return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS;
    }
}
