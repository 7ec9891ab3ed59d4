package startup;

import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;

/**
 * Once the application is ready: prints loaded classes, live threads, CPU and wall time since the JVM began, then makes
 * the first call if there is something to call, prints how long it took, and ends the process.
 */
public final class StartupProbe implements ApplicationListener<ApplicationReadyEvent> {

    /** The first call that an application offers to be measured. */
    public interface FirstCall {
        void call();
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        long cpuMillis = ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .orElseThrow()
                .toMillis();
        long wallMillis = ManagementFactory.getRuntimeMXBean().getUptime();
        int classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        FirstCall first =
                event.getApplicationContext().getBeanProvider(FirstCall.class).getIfAvailable();
        long firstCallMicros = first == null ? 0 : firstSuccess(first);
        System.out.printf(
                "STARTUP classes=%d threads=%d cpu=%d wall=%d first=%d%n",
                classes, threads, cpuMillis, wallMillis, firstCallMicros);
        System.exit(SpringApplication.exit(event.getApplicationContext()));
    }

    /** The client was there before the provider, so its connection may need another moment. */
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
