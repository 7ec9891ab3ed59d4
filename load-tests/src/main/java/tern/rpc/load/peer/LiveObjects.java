package tern.rpc.load.peer;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The live objects of a process. The JVM counts them after a full collection.
 *
 * @param heapBytes the bytes of all objects
 * @param directBytes the bytes in direct buffers
 * @param classes the number of instances and bytes by class name
 */
record LiveObjects(long heapBytes, long directBytes, Map<String, Counted> classes) {

    /** The number of instances of one class, and the bytes that they use. */
    record Counted(long instances, long bytes) {

        static final Counted NONE = new Counted(0, 0);
    }

    /**
     * The minimum number of words in a histogram line: row number, instances, bytes and class. Some lines also contain
     * the module.
     */
    private static final int WORDS = 4;

    LiveObjects {
        classes = Map.copyOf(classes);
    }

    /**
     * Counts the live objects of this process. Garbage is collected twice, because the first collection can make more
     * objects unreachable.
     */
    static LiveObjects count() {
        histogram();
        String histogram = histogram();
        Map<String, Counted> classes = parse(histogram);
        return new LiveObjects(
                classes.values().stream().mapToLong(Counted::bytes).sum(), directBytesNow(), classes);
    }

    private static String histogram() {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
        } catch (JMException e) {
            throw new IllegalStateException("this JVM does not count its objects", e);
        }
    }

    /** Parses the histogram. Classes with the same name but different class loaders are counted together. */
    static Map<String, Counted> parse(String histogram) {
        Map<String, Counted> classes = new HashMap<>();
        histogram
                .lines()
                .map(String::strip)
                .filter(line -> line.matches("\\d+: .*"))
                .forEach(line -> {
                    String[] words = line.split("\\s+", -1);
                    if (words.length >= WORDS) {
                        classes.merge(
                                words[3],
                                new Counted(Long.parseLong(words[1]), Long.parseLong(words[2])),
                                (one, other) -> new Counted(one.instances + other.instances, one.bytes + other.bytes));
                    }
                });
        return classes;
    }

    /**
     * Returns the size of the JDK's and Netty's direct memory. Netty can allocate memory that the JDK's counter does
     * not include.
     */
    private static long directBytesNow() {
        long jdk = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return Math.max(jdk, PlatformDependent.usedDirectMemory());
    }

    LiveObjects since(LiveObjects earlier) {
        Map<String, Counted> grown = new HashMap<>();
        classes.forEach((name, now) -> {
            Counted before = earlier.classes.getOrDefault(name, Counted.NONE);
            grown.put(name, new Counted(now.instances - before.instances, now.bytes - before.bytes));
        });
        return new LiveObjects(heapBytes - earlier.heapBytes, directBytes - earlier.directBytes, grown);
    }

    /** Returns the {@code most} classes whose instances use the most bytes, largest first. */
    Map<String, Counted> largest(int most) {
        Map<String, Counted> found = new LinkedHashMap<>();
        classes.entrySet().stream()
                .sorted((one, other) ->
                        Long.compare(other.getValue().bytes(), one.getValue().bytes()))
                .limit(most)
                .forEach(entry -> found.put(entry.getKey(), entry.getValue()));
        return found;
    }

    String words() {
        StringBuilder words = new StringBuilder(heapBytes + " " + directBytes);
        classes.forEach(
                (name, counted) -> words.append(' ').append(name + " " + counted.instances + " " + counted.bytes));
        return words.toString();
    }

    static LiveObjects of(String[] words, int first) {
        List<String> all = List.of(words);
        Map<String, Counted> classes = new HashMap<>();
        for (int i = first + 2; i + 2 < all.size(); i += 3) {
            classes.put(all.get(i), new Counted(Long.parseLong(all.get(i + 1)), Long.parseLong(all.get(i + 2))));
        }
        return new LiveObjects(Long.parseLong(all.get(first)), Long.parseLong(all.get(first + 1)), classes);
    }
}
