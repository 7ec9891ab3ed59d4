package startup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Prints measurements when the application is ready: the number of loaded classes, the CPU and wall time since the JVM
 * started, the number of live threads, and the size of the heap after a garbage collection. If the application defines
 * a first call, makes this call and prints its duration. Requests each path in the {@code startup.read} property from
 * the application's web server before counting the threads and measuring the heap. Finally ends the process.
 */
public final class StartupProbe implements ApplicationListener<ApplicationReadyEvent> {

    /** The first call by the application, whose duration is measured. */
    public interface FirstCall {
        void call();
    }

    @Override
    public void onApplicationEvent(ApplicationReadyEvent event) {
        long cpuMillis =
                ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
        long wallMillis = ManagementFactory.getRuntimeMXBean().getUptime();
        int classes = ManagementFactory.getClassLoadingMXBean().getLoadedClassCount();
        FirstCall first =
                event.getApplicationContext().getBeanProvider(FirstCall.class).getIfAvailable();
        long firstCallMicros = first == null ? 0 : firstSuccess(first);
        readAll(event.getApplicationContext().getEnvironment());
        int threads = ManagementFactory.getThreadMXBean().getThreadCount();
        System.out.printf(
                "STARTUP classes=%d threads=%d cpu=%d wall=%d first=%d heap=%d%n",
                classes, threads, cpuMillis, wallMillis, firstCallMicros, heapKilobytes());
        System.exit(SpringApplication.exit(event.getApplicationContext()));
    }

    private static void readAll(Environment environment) {
        for (String path : environment.getProperty("startup.read", String[].class, new String[0])) {
            read(environment.getRequiredProperty("local.server.port", int.class), path);
        }
    }

    /** Sends the request over a plain socket, because an HTTP client would start threads. */
    private static void read(int port, String path) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            String request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!answer.startsWith("HTTP/1.1 200")) {
                throw new IllegalStateException(
                        path + ": " + answer.lines().findFirst().orElse("no answer"));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long heapKilobytes() {
        System.gc();
        System.gc(); // The second garbage collection also removes objects that finalizers or cleaners kept reachable.
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 10;
    }

    /** Repeats the call until it succeeds. The client starts before the provider, so connecting can take a moment. */
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
