package tern.rpc.spring.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The ports that RPC servers of this process listen on. Tests often have several independent application contexts in
 * one process, so the ports are kept in a static field. Thread-safe.
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
