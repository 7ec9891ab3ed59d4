package tern.rpc.diagnosis.machine;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * Finds the program whose processes use the most processor time of this machine. In a container, only the container's
 * processes are visible. Thread-safe.
 */
public final class BusyProcesses {

    public static final BusyProcesses OF_MACHINE = new BusyProcesses(BusyProcesses::read, NanoClock.SYSTEM);

    /** The time between two readings of the list of processes. A reading takes a few milliseconds. */
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The maximum time between two readings that are compared. Readings that are further apart usually belong to
     * different periods of late calls.
     */
    private static final long MAX_PERIOD_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int MAX_PROCESSES = 2_000;

    /** The diagnosis names a program only if it uses at least {@value} processors. */
    private static final double MIN_PROCESSORS = 0.25;

    /** The programs of databases and Redis servers. */
    private static final Map<String, Kind> SERVERS = Map.of(
            "mariadbd", Kind.SQL,
            "mysqld", Kind.SQL,
            "postgres", Kind.SQL,
            "oracle", Kind.SQL,
            "sqlservr", Kind.SQL,
            "redis-server", Kind.REDIS,
            "valkey-server", Kind.REDIS,
            "keydb-server", Kind.REDIS);

    private final Supplier<List<Usage>> processes;
    private final NanoClock clock;
    private Map<Long, Usage> last = Map.of();
    private long lastNanos;
    private boolean hasRead;
    private @Nullable Busiest most;

    /**
     * A process and the processor time that it has used since its start.
     *
     * @param isChild whether the application's process has started this process, directly or indirectly
     */
    record Usage(long pid, String program, boolean isChild, Duration used) {}

    private static final class Program {
        int processes;
        long nanos;
        boolean isChild;
    }

    BusyProcesses(Supplier<List<Usage>> processes, NanoClock clock) {
        this.processes = processes;
        this.clock = clock;
    }

    /**
     * A program and the processors that its processes keep busy.
     *
     * @param isChild whether this process has started one of them, directly or indirectly
     */
    public record Busiest(String program, int processes, double processors, boolean isChild) {

        /** Returns the end of a sentence that names the program. */
        public String text() {
            return String.format(
                    Locale.ROOT,
                    ", most of them by %s%s (%d %s, %.1f processors)",
                    program,
                    isChild ? ", which this process has started" : "",
                    processes,
                    processes == 1 ? "process" : "processes",
                    processors);
        }

        /**
         * Returns the kind of the operations that the program runs for its clients; null if the program is not a known
         * server.
         */
        public @Nullable Kind operations() {
            return SERVERS.get(program);
        }
    }

    /**
     * Returns the program with the most processor time since the last reading. Returns null if no program used a lot of
     * processor time or if there was no earlier reading.
     */
    public synchronized @Nullable Busiest most() {
        long now = clock.nanoTime();
        long elapsed = now - lastNanos;
        if (hasRead && elapsed < PERIOD_NANOS) {
            return most;
        }
        List<Usage> read = processes.get();
        most = hasRead && elapsed <= MAX_PERIOD_NANOS ? compare(read, elapsed) : null;
        last = new HashMap<>();
        read.forEach(usage -> last.put(usage.pid(), usage));
        lastNanos = now;
        hasRead = true;
        return most;
    }

    private @Nullable Busiest compare(List<Usage> read, long elapsed) {
        Map<String, Program> programs = new HashMap<>();
        for (Usage usage : read) {
            Usage before = last.get(usage.pid());
            Program program = programs.computeIfAbsent(usage.program(), name -> new Program());
            program.processes++;
            program.nanos +=
                    usage.used().toNanos() - (before == null ? 0 : before.used().toNanos());
            program.isChild |= usage.isChild();
        }
        return programs.entrySet().stream()
                .max(Comparator.comparingLong(entry -> entry.getValue().nanos))
                .filter(entry -> entry.getValue().nanos >= MIN_PROCESSORS * elapsed)
                .map(entry -> new Busiest(
                        entry.getKey(),
                        entry.getValue().processes,
                        (double) entry.getValue().nanos / elapsed,
                        entry.getValue().isChild))
                .orElse(null);
    }

    private static List<Usage> read() {
        long own = ProcessHandle.current().pid();
        List<Usage> usages = new ArrayList<>();
        Set<Long> children =
                ProcessHandle.current().descendants().map(ProcessHandle::pid).collect(Collectors.toSet());
        ProcessHandle.allProcesses()
                .limit(MAX_PROCESSES)
                .filter(process -> process.pid() != own)
                .forEach(process -> {
                    ProcessHandle.Info info = process.info();
                    String program = info.command()
                            .map(command -> String.valueOf(Path.of(command).getFileName()))
                            .orElse("a process of another user");
                    info.totalCpuDuration()
                            .ifPresent(used -> usages.add(
                                    new Usage(process.pid(), program, children.contains(process.pid()), used)));
                });
        return usages;
    }
}
