package tern.rpc.load.cluster;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import tern.rpc.ServiceKey;
import tern.rpc.registry.Registration;
import tern.rpc.registry.dubbo.DubboEntries;
import tern.rpc.registry.dubbo.KnownProcesses;
import tern.rpc.registry.dubbo.ProviderUrl;

/**
 * Measures the processor time for parsing a full list of registry entries, and the memory of the parsed entries.
 * The measurement uses neither ZooKeeper nor its client. The client would need additional memory for its watches.
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
        report("application level", names, processes, rounds, new ApplicationLevel());
        report("interface level", urls, urls, rounds, Parser.of(ProviderUrl::parseNode));
    }

    private static Registration registration(int number) {
        List<Registration.Service> services = new java.util.ArrayList<>();
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

    /** Parses the entries of one list. */
    private interface Parser {

        /** Returns the function that parses each entry of the next list. */
        Function<String, Object> start();

        static Parser of(Function<String, Object> each) {
            return () -> each;
        }
    }

    private static final class ApplicationLevel implements Parser {

        @Override
        public Function<String, Object> start() {
            KnownProcesses processes = new KnownProcesses("shop");
            return text -> {
                Object known = processes.parse(text);
                if (known == null) {
                    throw new IllegalStateException("not an entry: " + text);
                }
                return known;
            };
        }
    }

    private static void report(String level, String[] names, String[] texts, int rounds, Parser parser) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] nanos = new long[rounds];
        for (int round = 0; round < rounds; round++) {
            long before = threads.getCurrentThreadCpuTime();
            parse(names, texts, parser);
            nanos[round] = threads.getCurrentThreadCpuTime() - before;
        }
        long first = nanos[0];
        Arrays.sort(nanos);
        long usedBefore = used();
        Parsed kept = parse(names, texts, parser);
        long bytes = used() - usedBefore;
        System.out.printf(
                "%-18s %,d entries: first list %.1f ms, median %.1f ms of processor time; %d bytes per entry%n",
                level,
                kept.entries().size(),
                first / NANOS_PER_MILLI,
                nanos[rounds / 2] / NANOS_PER_MILLI,
                bytes / texts.length);
    }

    /** A list in the form in which the registry client stores it: the entries by name, and the set of names. */
    private record Parsed(Map<String, Object> entries, Set<String> names) {}

    private static Parsed parse(String[] names, String[] texts, Parser parser) {
        Function<String, Object> parsing = parser.start();
        Map<String, Object> entries = new HashMap<>();
        Set<String> known = new java.util.HashSet<>();
        for (int i = 0; i < texts.length; i++) {
            // The name is copied, because ZooKeeper's client also creates a new string for each name.
            String name = new String(names[i].toCharArray());
            known.add(name);
            entries.put(name, parsing.apply(texts[i]));
        }
        return new Parsed(entries, known);
    }

    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }
}
