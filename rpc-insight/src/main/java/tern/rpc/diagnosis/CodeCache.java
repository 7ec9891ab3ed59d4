package tern.rpc.diagnosis;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;

/** Reads how full the memory for compiled code is. If it is full, the JVM stops compiling and interprets more code. */
final class CodeCache {

    /** The memory is considered full if at least this share of it is used. The JVM needs some free memory to compile. */
    static final double FULL = 0.97;

    private CodeCache() {}

    /** Returns the used share of the fullest part of the memory for compiled code; 0 if it is unknown. */
    static double share() {
        double most = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            // The part for the JVM's own code does not depend on the application.
            boolean isCompiled = pool.getName().equals("CodeCache")
                    || (pool.getName().startsWith("CodeHeap") && !pool.getName().contains("non-nmethods"));
            if (isCompiled) {
                most = Math.max(most, share(pool.getUsage()));
            }
        }
        return most;
    }

    private static double share(MemoryUsage usage) {
        return usage.getMax() <= 0 ? 0 : (double) usage.getUsed() / usage.getMax();
    }
}
