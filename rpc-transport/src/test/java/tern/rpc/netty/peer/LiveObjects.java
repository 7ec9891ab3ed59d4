package tern.rpc.netty.peer;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * The objects on this JVM's heap, by class, after a full garbage collection. Immutable.
 *
 * @param byClass the objects, by class name as the JVM writes it
 */
public record LiveObjects(Map<String, Count> byClass) {

    /** The object count and the total size of one class. */
    record Count(long objects, long bytes) {
        Count minus(Count other) {
            return new Count(objects - other.objects, bytes - other.bytes);
        }
    }

    private static final Count NONE = new Count(0, 0);
    // a line of the JVM's output has four columns: row number, objects, bytes and class
    private static final int COLUMNS = 4;
    // the JVM fills free space between objects with instances of this class, which are not counted
    private static final String FILLER = "jdk.internal.vm.Filler";

    /**
     * Runs the garbage collector and counts the remaining objects, twice. The result is the second count. This count
     * also includes the objects in which the first count is stored.
     */
    public static LiveObjects count() {
        // objects that are now waiting for a cleaner will have left the heap by the next count
        LiveObjects counted = parse();
        try {
            return parse();
        } finally {
            Reference.reachabilityFence(counted);
        }
    }

    private static LiveObjects parse() {
        Map<String, Count> counts = new HashMap<>();
        histogram().lines().map(String::strip).forEach(line -> {
            String[] columns = line.split("\\s+", COLUMNS);
            if (columns.length == COLUMNS && columns[0].endsWith(":") && !columns[3].contains(FILLER)) {
                // the class name is followed by the name of its module, which is removed here
                String name = columns[3].replaceFirst(" \\(.*", "");
                counts.merge(
                        name,
                        new Count(Long.parseLong(columns[1]), Long.parseLong(columns[2])),
                        (one, other) -> new Count(one.objects + other.objects, one.bytes + other.bytes));
            }
        });
        return new LiveObjects(counts);
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
            throw new IllegalStateException(e);
        }
    }

    /** Runs the garbage collector and returns the objects added since this count. */
    public LiveObjects added() {
        histogram();
        LiveObjects now = parse();
        Map<String, Count> added = new HashMap<>();
        now.byClass.forEach((name, count) -> added.put(name, count.minus(byClass.getOrDefault(name, NONE))));
        byClass.forEach((name, count) -> added.putIfAbsent(name, NONE.minus(count)));
        return new LiveObjects(added);
    }

    public long bytes() {
        return byClass.values().stream().mapToLong(Count::bytes).sum();
    }

    /**
     * Returns one line for each class whose objects occupy at least 4 bytes per part, largest class first.
     *
     * @param parts the number by which all sizes are divided, such as the number of connections
     */
    public String each(int parts) {
        return byClass.entrySet().stream()
                .filter(entry -> entry.getValue().bytes >= 4L * parts)
                .sorted(Comparator.comparingLong((Map.Entry<String, Count> entry) -> -entry.getValue().bytes))
                .map(entry -> String.format(
                        "%8.1f bytes in %6.2f %s",
                        (double) entry.getValue().bytes / parts,
                        (double) entry.getValue().objects / parts,
                        entry.getKey()))
                .collect(Collectors.joining("\n"));
    }
}
