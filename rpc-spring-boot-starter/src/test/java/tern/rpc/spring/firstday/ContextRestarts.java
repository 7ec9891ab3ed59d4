package tern.rpc.spring.firstday;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Repeatedly starts, calls and stops an application in one process, each time with newly loaded classes. Then counts
 * the remaining threads, file descriptors (including sockets) and class loaders. Exits with code 1 if one of these
 * numbers is larger than expected. The process needs {@code -XX:SoftRefLRUPolicyMSPerMB=0}, because softly reachable
 * class loaders are counted too.
 */
final class ContextRestarts {

    /**
     * The number of application starts before threads and file descriptors are counted for the first time. The first
     * starts create objects that the process keeps until it ends, such as compiled code.
     */
    private static final int FIRST_STARTS = 3;

    /**
     * The number of class loaders that the process keeps. Spring Boot registers one shutdown hook in each process, and
     * the hook keeps the first class loader.
     */
    private static final int LOADERS_OF_THE_PROCESS = 1;

    private static final long PATIENCE_SECONDS = 60;

    private final List<WeakReference<RestartLoader>> loaders = new ArrayList<>();

    private ContextRestarts() {}

    public static void main(String[] arguments) throws Exception {
        boolean clean = new ContextRestarts().run(Integer.parseInt(arguments[0]));
        System.exit(clean ? 0 : 1);
    }

    private boolean run(int starts) throws Exception {
        start(FIRST_STARTS);
        long threads = threads();
        long descriptors = descriptors();
        start(starts);
        boolean clean = awaitAtMost(threads, ContextRestarts::threads)
                & awaitAtMost(descriptors, ContextRestarts::descriptors)
                & awaitAtMost(LOADERS_OF_THE_PROCESS, this::loadersLeft);
        System.out.printf(
                "R23 %d starts: %d threads before and %d after, descriptors %d and %d, class loaders left %d of %d%n",
                starts, threads, threads(), descriptors, descriptors(), loadersLeft(), loaders.size());
        return clean;
    }

    private void start(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            RestartLoader loader = new RestartLoader();
            loaders.add(new WeakReference<>(loader));
            loader.startAndCall();
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().size();
    }

    private static long descriptors() {
        return ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getOpenFileDescriptorCount();
    }

    private long loadersLeft() {
        System.gc();
        return loaders.stream().map(WeakReference::get).filter(Objects::nonNull).count();
    }

    private static boolean awaitAtMost(long most, LongSupplier left) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (left.getAsLong() > most && System.nanoTime() - end < 0) {
            Thread.sleep(50);
        }
        return left.getAsLong() <= most;
    }
}
