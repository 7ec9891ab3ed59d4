package tern.rpc.evidence;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Values that the JVM provides about its own process. A missing value is -1. */
interface OwnProcess {

    long cpuNanos();

    int availableProcessors();

    static OwnProcess ofThisJvm() {
        return new OwnProcess() {
            private final java.lang.management.OperatingSystemMXBean system =
                    ManagementFactory.getOperatingSystemMXBean();

            @Override
            public long cpuNanos() {
                return system instanceof OperatingSystemMXBean known ? known.getProcessCpuTime() : Figures.MISSING;
            }

            @Override
            public int availableProcessors() {
                return system.getAvailableProcessors();
            }
        };
    }
}
