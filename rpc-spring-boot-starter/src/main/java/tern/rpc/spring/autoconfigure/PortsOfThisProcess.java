package tern.rpc.spring.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The ports on which RPC servers of this process listen. Tests often have several application contexts in one process,
 * which are independent of each other, so the ports are static. Thread-safe.
 */
final class PortsOfThisProcess {

    private static final Set<Integer> OPEN = ConcurrentHashMap.newKeySet();

    private PortsOfThisProcess() {}

    static void opened(int port) {
        OPEN.add(port);
    }

    static void closed(int port) {
        OPEN.remove(port);
    }

    static boolean contains(int port) {
        return OPEN.contains(port);
    }
}
