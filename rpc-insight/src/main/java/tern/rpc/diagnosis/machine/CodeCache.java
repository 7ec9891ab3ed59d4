package tern.rpc.diagnosis.machine;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the used share of the JVM's memory for compiled code. If this memory is full, the JVM stops compiling, and
 * interprets new code.
 */
public final class CodeCache {

    /**
     * The memory for compiled code counts as full if at least {@value} of it is used. The JVM needs some free memory to
     * compile.
     */
    public static final double FULL = 0.97;

    private CodeCache() {}

    /** Returns the used share of the memory for compiled code; 0 if it is unknown. */
    public static double share() {
        Map<String, MemoryUsage> pools = new HashMap<>();
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            pools.put(pool.getName(), pool.getUsage());
        }
        return share(pools);
    }

    /**
     * Returns the used share of the memory for compiled code. If the memory consists of several pools, this is the
     * share of the least full pool, because the JVM uses the other pools when one is full.
     *
     * @param pools the memory pools of the JVM by name
     */
    public static double share(Map<String, MemoryUsage> pools) {
        return pools.entrySet().stream()
                .filter(pool -> isCompiled(pool.getKey()))
                .mapToDouble(pool -> share(pool.getValue()))
                .min()
                .orElse(0);
    }

    /**
     * Returns whether the given pool contains compiled application code. The pool "non-nmethods" contains only
     * code of the JVM itself.
     */
    private static boolean isCompiled(String pool) {
        return pool.equals("CodeCache") || (pool.startsWith("CodeHeap") && !pool.contains("non-nmethods"));
    }

    private static double share(MemoryUsage usage) {
        return usage.getMax() <= 0 ? 0 : (double) usage.getUsed() / usage.getMax();
    }
}
