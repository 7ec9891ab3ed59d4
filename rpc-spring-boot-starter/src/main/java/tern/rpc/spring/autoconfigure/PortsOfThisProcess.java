package tern.rpc.spring.autoconfigure;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

/**
 * The ports that RPC servers of this process listen on. Tests often have several independent application contexts in
 * one process. A web server runs several applications, each with its own copy of this class, so the ports are kept in a
 * system property. Thread-safe.
 */
final class PortsOfThisProcess {

    private static final String PROPERTY = "tern.rpc.open-ports";

    private PortsOfThisProcess() {}

    static void opened(int port) {
        change(port, Set::add);
    }

    static void closed(int port) {
        change(port, Set::remove);
    }

    static boolean contains(int port) {
        return ports().contains(String.valueOf(port));
    }

    private static void change(int port, BiPredicate<Set<String>, String> change) {
        // Each application can have its own copy of this class, but all copies share the JVM's system properties and
        // therefore this lock.
        synchronized (System.getProperties()) {
            Set<String> ports = ports();
            if (change.test(ports, String.valueOf(port))) {
                System.setProperty(PROPERTY, String.join(",", ports));
            }
        }
    }

    private static Set<String> ports() {
        return Arrays.stream(System.getProperty(PROPERTY, "").split(","))
                .filter(port -> !port.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
