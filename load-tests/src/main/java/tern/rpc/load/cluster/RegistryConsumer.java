package tern.rpc.load.cluster;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * A process that finds the providers of {@link NodeService} through a registry. The process first makes one call, and
 * then a hundred calls per second. The process reads commands from its standard input, and answers each with one line
 * that begins with {@value #MARK}:
 *
 * <ul>
 *   <li>{@code figures}: the heap after a garbage collection in bytes, and the processor time of the process in
 *         nanoseconds
 *   <li>{@code calls}: the calls, the failed calls and the 99th percentile in milliseconds since the previous command
 *       of this kind
 * </ul>
 *
 * <p>The process ends when its standard input ends. The process also reports two kinds of events without a command:
 * {@code first}, the milliseconds from the start of the JVM to the first answer, and {@code list}, the length and the
 * time of each list of providers.
 */
final class RegistryConsumer {

    /** The beginning of each line for the parent process. All other lines belong to the log. */
    static final String MARK = "@";

    private static final long PERIOD_MILLIS = 10;
    private static final long PAUSE_MILLIS = 20;
    private static final int COLLECTIONS = 4;
    private static final double MICROS_PER_MILLI = 1e3;

    private final ConsumerClient client;
    private final AtomicLong failed = new AtomicLong();
    private volatile Histogram micros = histogram();

    private RegistryConsumer(ConsumerClient client) {
        this.client = client;
    }

    /** @param arguments {@code --framework=} tern or dubbo, {@code --registry=} the address of the ZooKeeper server */
    public static void main(String[] arguments) throws Exception {
        Options options = new Options(arguments);
        String registry = options.text("registry", "");
        boolean isTern = options.text("framework", "tern").equals("tern");
        try (ConsumerClient client = isTern ? new TernConsumer(registry) : new DubboConsumer(registry)) {
            new RegistryConsumer(client).run();
        }
        System.exit(0); // The process is ended explicitly, because Dubbo's threads would keep it alive.
    }

    /** Prints one line for the parent process. */
    static void say(String format, Object... values) {
        System.out.println(MARK + String.format(Locale.ROOT, format, values));
    }

    private void run() throws IOException, InterruptedException {
        while (!answers()) {
            Thread.sleep(PAUSE_MILLIS);
        }
        say(
                "first %d",
                System.currentTimeMillis()
                        - ManagementFactory.getRuntimeMXBean().getStartTime());
        ScheduledExecutorService pace = Executors.newSingleThreadScheduledExecutor();
        pace.scheduleAtFixedRate(this::call, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            answer(command);
        }
        pace.shutdownNow();
    }

    private boolean answers() {
        try {
            client.service().work(0).join();
            return true;
        } catch (RuntimeException e) {
            return false;
        }
    }

    private void call() {
        long started = System.nanoTime();
        Histogram into = micros;
        try {
            client.service().work(1).whenComplete((node, failure) -> ended(into, started, failure == null));
        } catch (RuntimeException e) {
            ended(into, started, false);
        }
    }

    private void ended(Histogram into, long started, boolean isGood) {
        into.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - started));
        if (!isGood) {
            failed.incrementAndGet();
        }
    }

    private void answer(String command) {
        switch (command) {
            case "figures" -> say("figures %d %d", usedHeap(), processorTime());
            case "calls" -> {
                Histogram ended = micros;
                micros = histogram();
                say(
                        "calls %d %d %.1f",
                        ended.getTotalCount(), failed.getAndSet(0), ended.getValueAtPercentile(99) / MICROS_PER_MILLI);
            }
            default -> say("unknown %s", command);
        }
    }

    private static Histogram histogram() {
        return new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(1), 3);
    }

    private static long usedHeap() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    private static long processorTime() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
