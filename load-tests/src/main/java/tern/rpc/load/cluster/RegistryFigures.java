package tern.rpc.load.cluster;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Registration;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.KnownProcesses;
import tern.rpc.registry.dubbo.KnownProviders;

/**
 * Measures the processor time for parsing a full list of registry entries, and the memory of the parsed entries. The
 * measurement uses neither ZooKeeper nor its client. ZooKeeper's client would need additional memory for its watches.
 */
final class RegistryFigures {

    private static final int SERVICES = 20;
    private static final double NANOS_PER_MILLI = 1e6;

    private RegistryFigures() {}

    /**
     * @param arguments {@code --instances=} the number of entries in the list, {@code --rounds=} the number of
     *     repetitions
     */
    public static void main(String[] arguments) {
        Options options = new Options(arguments);
        int instances = options.number("instances", 10_000);
        int rounds = options.number("rounds", 20);
        String[] names = new String[instances];
        String[] processes = new String[instances];
        String[] urls = new String[instances];
        for (int i = 0; i < instances; i++) {
            DubboEntries entries = new DubboEntries(registration(i), false);
            names[i] = entries.process().id();
            processes[i] = entries.process().json(i);
            urls[i] = entries.urls(entries.registration().services().get(0))
                    .get(0)
                    .node();
        }
        report("application level", rounds, () -> applicationLevel(names, processes));
        report("interface level", rounds, () -> interfaceLevel(urls));
    }

    private static Registration registration(int number) {
        List<Registration.Service> services = new ArrayList<>();
        for (int i = 0; i < SERVICES; i++) {
            services.add(new Registration.Service(
                    new ServiceKey("com.example.shop.orders.OrderService" + i, "", ""),
                    List.of("place", "cancel", "find", "list"),
                    100));
        }
        return new Registration(
                "shop",
                "10." + (number >> 16) + "." + (number >> 8 & 255) + "." + (number & 255),
                20_880,
                List.of("dubbo", "tri"),
                services,
                Map.of("zone", "zone-" + number % 3),
                0,
                1_795_000_000_000L + number);
    }

    private static void report(String level, int rounds, Supplier<Parsed> parser) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] nanos = new long[rounds];
        long entries = 0; // The count keeps the JIT compiler from removing the list.
        for (int round = 0; round < rounds; round++) {
            long before = threads.getCurrentThreadCpuTime();
            entries += parser.get().entries();
            nanos[round] = threads.getCurrentThreadCpuTime() - before;
        }
        long first = nanos[0];
        Arrays.sort(nanos);
        long usedBefore = used();
        Parsed kept = parser.get();
        long bytes = used() - usedBefore;
        System.out.printf(
                "%-18s %,d entries: first list %.1f ms, median %.1f ms of processor time; %d bytes per entry%n",
                level,
                entries / rounds,
                first / NANOS_PER_MILLI,
                nanos[rounds / 2] / NANOS_PER_MILLI,
                bytes / kept.entries());
    }

    /**
     * A list of providers, as the registry client keeps it in memory.
     *
     * @param kept the root of all objects that the client keeps in memory for the list
     */
    private record Parsed(int entries, Object kept) {}

    private static Parsed applicationLevel(String[] names, String[] texts) {
        KnownProcesses processes = new KnownProcesses("shop");
        Map<String, Object> entries = new HashMap<>();
        Set<String> known = new HashSet<>();
        for (int i = 0; i < texts.length; i++) {
            String name = copy(names[i]);
            Object process = processes.parse(texts[i]);
            if (process == null) {
                throw new IllegalStateException("not an entry: " + texts[i]);
            }
            known.add(name);
            entries.put(name, process);
        }
        return new Parsed(entries.size(), List.of(processes, entries, known));
    }

    private static Parsed interfaceLevel(String[] urls) {
        List<String> copies = new ArrayList<>();
        for (String url : urls) {
            copies.add(copy(url));
        }
        KnownProviders known = new KnownProviders();
        known.replace(copies, (name, wrong) -> {
            throw wrong;
        });
        return new Parsed(known.providers().size(), known);
    }

    /** Copies a name. ZooKeeper's client also creates a new string for each name in each list. */
    private static String copy(String name) {
        return new String(name.toCharArray());
    }

    /** Returns the heap in use after garbage collections. */
    static long used() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
