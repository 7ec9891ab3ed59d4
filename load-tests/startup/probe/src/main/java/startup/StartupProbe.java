package startup;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Prints figures when the application is ready: the number of loaded classes, the number of live threads, the CPU and
 * wall time since the JVM started, and the size of the heap after a collection. If the application defines a first
 * call, makes this call and prints its duration. Then ends the process.
 */
public final class StartupProbe implements ApplicationListener<ApplicationReadyEvent> {

    /** The first call of the application, whose duration is measured. */
    public interface FirstCall {
        void call();
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        long cpuMillis =
                ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
        long wallMillis = ManagementFactory.getRuntimeMXBean().getUptime();
        int classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        FirstCall first =
                event.getApplicationContext().getBeanProvider(FirstCall.class).getIfAvailable();
        long firstCallMicros = first == null ? 0 : firstSuccess(first);
        System.out.printf(
                "STARTUP classes=%d threads=%d cpu=%d wall=%d first=%d heap=%d%n",
                classes, threads, cpuMillis, wallMillis, firstCallMicros, heapKilobytes());
        System.exit(SpringApplication.exit(event.getApplicationContext()));
    }

    private static long heapKilobytes() {
        System.gc();
        System.gc(); // The second collection also removes objects that finalizers or cleaners kept reachable.
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10;
    }

    /**
     * Repeats the call until it succeeds. The client starts before the provider, so it may take a moment to connect.
     */
    private static long firstSuccess(FirstCall first) {
        RuntimeException last = new IllegalStateException("not called");
        for (int attempt = 0; attempt < 100; attempt++) {
            long started = System.nanoTime();
            try {
                first.call();
                return (System.nanoTime() - started) / 1_000;
            } catch (RuntimeException e) {
                last = e;
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            }
        }
        throw last;
    }
}
