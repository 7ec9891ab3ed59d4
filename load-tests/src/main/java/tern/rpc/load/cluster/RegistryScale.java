package tern.rpc.load.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import tern.rpc.limit.FixedLimit;
import tern.rpc.load.cluster.ConsumerProcess.Calls;
import tern.rpc.load.cluster.ConsumerProcess.Figures;
import tern.rpc.load.cluster.ConsumerProcess.Seen;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;
import tern.rpc.registry.zookeeper.ZooKeeperRegistry;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Measures consumers of a service with thousands of instances in a real ZooKeeper server. ZooKeeper and one server for
 * all instances run in this process, and each consumer runs in a separate process. Prints one line per result.
 */
final class RegistryScale {

    private static final int CONNECTIONS = 50_000;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_MB = 1e6;
    private static final long SETTLE_SECONDS = 10;
    private static final int CHANGES_PER_SECOND = 100;
    private static final long CHURN_SECONDS = 60;
    private static final int LEAVE_SECONDS = 10;
    private static final int RETURN_SECONDS = 60;
    private static final String SCENES = "compare,convergence,churn,restart,outage";

    private final Path folder;
    private final int instances;
    private final Options options;

    private RegistryScale(Options options) throws IOException {
        this.options = options;
        this.folder = Files.createTempDirectory("registry-scale");
        this.instances = options.number("instances", 10_000);
    }

    /**
     * @param arguments {@code --scenes=} some of {@value #SCENES}; {@code --instances=} the number of instances; {@code
     *     --changes=} the number of single changes; {@code --restarts=} the number of mass restarts; {@code --minutes=}
     *     the duration of the outage
     */
    public static void main(String[] arguments) throws Exception {
        RegistryScale scale = new RegistryScale(new Options(arguments));
        for (String scene : scale.options.text("scenes", SCENES).split(",")) {
            scale.run(scene);
        }
        System.exit(0); // The process is ended explicitly, because threads of ZooKeeper's server would keep it alive.
    }

    private void run(String scene) throws Exception {
        switch (scene) {
            case "compare" -> {
                for (int count : new int[] {3_000, instances}) {
                    for (String framework : List.of("tern", "dubbo")) {
                        with(count, (keeper, many) -> compare(framework, keeper, count));
                    }
                }
            }
            case "convergence" -> with(instances, this::convergence);
            case "churn" -> with(instances, this::churn);
            case "restart" -> with(instances, this::massRestart);
            case "outage" -> outage();
            default -> throw new IllegalArgumentException("'" + scene + "' is not one of " + SCENES);
        }
    }

    private interface Scene {
        void run(EmbeddedZooKeeper keeper, ManyInstances many) throws Exception;
    }

    /** Runs one of the program's scenarios with a new ZooKeeper server that lists the given number of instances. */
    private void with(int count, Scene scene) throws Exception {
        try (EmbeddedZooKeeper keeper = EmbeddedZooKeeper.start(folder.resolve("zookeeper"));
                Provider provider = new Provider(keeper.url());
                ManyInstances many =
                        new ManyInstances(keeper.url().substring("zookeeper://".length()), provider.port())) {
            many.create(1, count); // Starts with instance 1, because the provider has already published instance 0.
            scene.run(keeper, many);
        }
    }

    private ConsumerProcess consumer(String framework, EmbeddedZooKeeper keeper) throws IOException {
        return ConsumerProcess.start(framework, keeper.url(), folder.resolve(framework + ".log"));
    }

    private void compare(String framework, EmbeddedZooKeeper keeper, int count) throws Exception {
        try (ConsumerProcess consumer = consumer(framework, keeper)) {
            long first = consumer.firstCallMillis();
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
            Figures figures = consumer.figures();
            Calls calls = consumer.calls();
            print(
                    "compare %s, %,d instances: first call after %,d ms, %,.0f ms of processor time in the first %d s after"
                            + " it, heap %.1f MB, %d of %d calls failed, p99 %.1f ms",
                    framework,
                    count,
                    first,
                    figures.processorNanos() / NANOS_PER_MILLI,
                    SETTLE_SECONDS,
                    figures.heapBytes() / BYTES_PER_MB,
                    calls.failed(),
                    calls.all(),
                    calls.p99Millis());
        }
    }

    private void convergence(EmbeddedZooKeeper keeper, ManyInstances many) throws Exception {
        int changes = options.number("changes", 100);
        try (ConsumerProcess consumer = consumer("tern", keeper);
                PlainWatch watch = PlainWatch.start(keeper.url().substring("zookeeper://".length()))) {
            consumer.firstCallMillis();
            consumer.awaitList(instances);
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
            long processorBefore = consumer.figures().processorNanos();
            double[] plain = new double[changes];
            double[] tern = new double[changes];
            double[] later = new double[changes];
            for (int i = 0; i < changes; i++) {
                boolean isNew = i % 2 == 0;
                int size = isNew ? instances + 1 : instances;
                long written = System.nanoTime();
                if (isNew) {
                    many.create(instances);
                } else {
                    many.delete(instances);
                }
                plain[i] = (watch.await(size) - written) / NANOS_PER_MILLI;
                tern[i] = (consumer.awaitList(size).nanos() - written) / NANOS_PER_MILLI;
                later[i] = tern[i] - plain[i];
                TimeUnit.SECONDS.sleep(1); // the client delays a changed list for less than this pause
            }
            double processor = (consumer.figures().processorNanos() - processorBefore) / NANOS_PER_MILLI / changes;
            print(
                    "convergence, %,d single changes of %,d instances, from the write: plain watch p50 %.1f p99 %.1f ms;"
                            + " Tern's list p50 %.1f p99 %.1f ms; difference p99 %.1f ms; %.1f ms of processor time of"
                            + " the consumer for a change and 100 calls",
                    changes,
                    instances,
                    percentile(plain, 50),
                    percentile(plain, 99),
                    percentile(tern, 50),
                    percentile(tern, 99),
                    percentile(later, 99),
                    processor);
        }
    }

    private void churn(EmbeddedZooKeeper keeper, ManyInstances many) throws Exception {
        try (ConsumerProcess consumer = consumer("tern", keeper)) {
            consumer.firstCallMillis();
            consumer.awaitList(instances);
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
            consumer.calls();
            long processorStart = consumer.figures().processorNanos();
            TimeUnit.SECONDS.sleep(CHURN_SECONDS);
            Calls quiet = consumer.calls();
            long processorQuiet = consumer.figures().processorNanos() - processorStart;
            consumer.calls();
            consumer.takeLists();
            long processorBefore = consumer.figures().processorNanos();
            long changes = CHURN_SECONDS * CHANGES_PER_SECOND;
            FixedRate pace = new FixedRate(TimeUnit.SECONDS.toNanos(1) / CHANGES_PER_SECOND);
            for (int i = 0; i < changes; i++) {
                pace.await();
                if (i % 2 == 0) {
                    many.create(instances);
                } else {
                    many.delete(instances);
                }
            }
            Calls busy = consumer.calls();
            long processorBusy = consumer.figures().processorNanos() - processorBefore;
            print(
                    "churn, %d changes per second of %,d instances for %d s: p99 of calls %.1f ms without and %.1f ms with"
                            + " changes, %d of %d failed, %,d lists, %.2f ms of processor time per change",
                    CHANGES_PER_SECOND,
                    instances,
                    CHURN_SECONDS,
                    quiet.p99Millis(),
                    busy.p99Millis(),
                    busy.failed(),
                    busy.all(),
                    consumer.takeLists().size(),
                    (processorBusy - processorQuiet) / NANOS_PER_MILLI / changes);
        }
    }

    /**
     * Removes all instances but one within ten seconds, and creates them again within a minute. Repeats this mass
     * restart, because the first one includes the time for compiling the code that handles a restart.
     */
    private void massRestart(EmbeddedZooKeeper keeper, ManyInstances many) throws Exception {
        try (ConsumerProcess consumer = consumer("tern", keeper)) {
            consumer.firstCallMillis();
            consumer.awaitList(instances);
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
            for (int restart = 1; restart <= options.number("restarts", 2); restart++) {
                restart(consumer, many, restart);
            }
        }
    }

    private void restart(ConsumerProcess consumer, ManyInstances many, int number) throws Exception {
        long processorStart = consumer.figures().processorNanos();
        TimeUnit.SECONDS.sleep(LEAVE_SECONDS + RETURN_SECONDS);
        long processorQuiet = consumer.figures().processorNanos() - processorStart;
        consumer.calls();
        long processorBefore = consumer.figures().processorNanos();
        inSteps(LEAVE_SECONDS, many::delete);
        inSteps(RETURN_SECONDS, many::create);
        long last = System.nanoTime();
        Seen complete = consumer.awaitList(instances);
        long processorBusy = consumer.figures().processorNanos() - processorBefore;
        Calls calls = consumer.calls();
        print(
                "restart %d of %,d instances: final list %.0f ms after the last change, %,.0f ms of processor time in %d s"
                        + " (%,.0f ms without changes), %d of %d calls failed, p99 %.1f ms",
                number,
                instances,
                Math.max(0, complete.nanos() - last) / NANOS_PER_MILLI,
                processorBusy / NANOS_PER_MILLI,
                LEAVE_SECONDS + RETURN_SECONDS,
                processorQuiet / NANOS_PER_MILLI,
                calls.failed(),
                calls.all(),
                calls.p99Millis());
    }

    private interface Step {
        void run(int from, int to) throws Exception;
    }

    /**
     * Changes all instances except the first, in ten steps per second. Each step changes about the same number of
     * instances.
     */
    private void inSteps(int seconds, Step step) throws Exception {
        int steps = seconds * 10;
        FixedRate pace = new FixedRate(TimeUnit.SECONDS.toNanos(seconds) / steps);
        for (int i = 0; i < steps; i++) {
            pace.await();
            step.run(1 + i * (instances - 1) / steps, 1 + (i + 1) * (instances - 1) / steps);
        }
    }

    /** Stops ZooKeeper while the consumer makes calls. */
    private void outage() throws Exception {
        int minutes = options.number("minutes", 10);
        EmbeddedZooKeeper keeper = EmbeddedZooKeeper.start(folder.resolve("zookeeper"));
        try (Provider provider = new Provider(keeper.url());
                ConsumerProcess consumer = consumer("tern", keeper)) {
            print("outage: the server of port %d is called", provider.port());
            consumer.firstCallMillis();
            TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
            consumer.calls();
            long before = consumer.loggedLines();
            keeper.close();
            TimeUnit.MINUTES.sleep(minutes);
            Calls calls = consumer.calls();
            print(
                    "outage of ZooKeeper for %d min: %d of %,d calls failed, p99 %.1f ms, %d lines logged"
                            + " by the consumer, which logs Tern's warnings and all errors",
                    minutes, calls.failed(), calls.all(), calls.p99Millis(), consumer.loggedLines() - before);
        }
    }

    private static double percentile(double[] values, double percent) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.min(sorted.length - 1L, Math.round(Math.ceil(sorted.length * percent / 100)) - 1)];
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format + "%n", values);
    }

    /** The server that answers the calls to all instances. This server publishes only the first instance. */
    private static final class Provider implements AutoCloseable {

        private final EventLoops loops = EventLoops.start(1);
        private final RpcServer server;
        private final Registry registry;

        Provider(String url) throws Exception {
            DubboProtocol protocol =
                    new DubboProtocol(HessianSerializer.builder().build(), 0);
            server = RpcServer.builder(new NettyServerTransport(
                            ServerTransportSettings.onPort(0).withMaxConnections(CONNECTIONS, CONNECTIONS),
                            loops,
                            List.of(protocol)))
                    .export(ServiceExport.of(NodeService.class, new EchoService()))
                    .limit(() -> new FixedLimit(CONNECTIONS))
                    .build();
            server.start();
            ZooKeeperRegistry.Form form = new ZooKeeperRegistry.Form(Subscription.Level.APPLICATION, false);
            registry = new ZooKeeperRegistry.Factory(form).open(RegistryUrl.parse(url));
            Publication publication = registry.publish(ManyInstances.registration(0, server.port()));
            publication.seen().get(60, TimeUnit.SECONDS);
        }

        int port() {
            return server.port();
        }

        @Override
        public void close() {
            registry.close();
            server.close();
            loops.close();
        }
    }
}
