package tern.rpc.load.cluster;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Tls;

/**
 * Simulates a client of many small applications and one very large application. The simulation runs several scenes. In
 * each scene, the lists of instances change in a different way while the client makes calls. The simulation uses no
 * sockets and no registry, so it measures only the costs of the client itself. Prints one line per scene.
 */
final class ManyApplications {

    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_MICRO = 1e3;
    private static final int CALLERS = 2;
    private static final int CALLS_PER_SECOND = 500; // the number of calls per second that each caller makes
    private static final int EQUAL_LISTS = 1_000;
    private static final int STEPS_PER_SECOND = 10;
    private static final int LEAVE_SECONDS = 10;
    private static final int RETURN_SECONDS = 60;
    // the maximum number of connections that the client opens per second
    private static final int CONNECTIONS_PER_SECOND = 50;
    private static final int SUBSET = 100; // the number of providers that a reference connects to (docs/cluster.md)
    // the wait for the last list of providers, because the client delays each list by up to a second
    private static final int LAST_LIST_SECONDS = 2;
    private static final String CLUSTER_THREAD = "rpc-client-cluster";

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final InMemoryTransport transport =
            new InMemoryTransport(HessianSerializer.builder().build());
    // the time when each connection was opened
    private final Map<Endpoint, Long> opened = new ConcurrentHashMap<>();
    // the time when each provider's address first appeared in a list
    private final Map<Endpoint, Long> published = new HashMap<>();
    private final List<SimulatedApplication> small = new ArrayList<>();
    private final List<NodeService> services = new ArrayList<>();
    private final SimulatedApplication giant;
    private final Random random = new Random(1);
    private final RpcClient client;
    private final int seconds;
    private final int servicesPerApplication;
    private final String scenes;
    private volatile Histogram micros = new ConcurrentHistogram(3);
    // the failures of calls in the current scene (a scenario of the simulation)
    private final Queue<RuntimeException> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    private ManyApplications(Options options) {
        int applications = options.number("applications", 1_000);
        int instances = options.number("instances", 10_000);
        this.seconds = options.number("seconds", 60);
        this.servicesPerApplication = options.number("services", 20);
        this.scenes = options.text("scenes", "all");
        long before = RegistryFigures.used();
        for (int i = 0; i < applications; i++) {
            small.add(new SimulatedApplication("application-" + i, i + 1, instances / applications));
        }
        giant = new SimulatedApplication("giant", 0, options.number("giant", 10_000));
        long all = (long) instances / applications * applications + giant.size();
        print("%,d instances: %,d bytes each", all, (RegistryFigures.used() - before) / all);
        client = RpcClient.builder().transport(new CountingTransport()).build();
    }

    /**
     * @param arguments {@code --applications=} the number of small applications; {@code --instances=} the total number
     *     of instances of these applications; {@code --giant=} the number of instances of the large application;
     *     {@code --services=} the number of references to each application; {@code --seconds=} the duration of a scene;
     *     {@code --scenes=calls} only the scenes that show the response times of calls during changes; {@code
     *     --scenes=memory} only the memory of the references
     */
    public static void main(String[] arguments) throws Exception {
        ManyApplications simulation = new ManyApplications(new Options(arguments));
        simulation.run();
        System.exit(0); // The client's threads are not daemons, so the process must be ended explicitly.
    }

    private void run() throws InterruptedException {
        try (RpcServer server = serve()) {
            server.start();
            refer();
            if (scenes.equals("memory")) {
                return;
            }
            for (int i = 0; i < CALLERS; i++) {
                int seed = i;
                Thread caller = new Thread(() -> call(new Random(seed)), "caller-" + i);
                caller.setDaemon(true);
                caller.start();
            }
            quiet("no change, to warm up the virtual machine");
            Deque<Runnable> undo = new ArrayDeque<>();
            besideQuiet("100 instances per second leave or return", () -> changes(100, () -> leaveOrReturn(undo)));
            besideQuiet("100 changed weights per second", () -> changes(100, () -> changeOne(this::otherWeight)));
            besideQuiet("100 changed revisions per second", () -> changes(100, () -> changeOne(this::otherRevision)));
            if (scenes.equals("calls")) {
                ended = true;
                return;
            }
            scene("1 new instance per second", () -> changes(1, this::replaceOne));
            scene(EQUAL_LISTS + " equal lists of the large application", () -> {
                for (int i = 0; i < EQUAL_LISTS; i++) {
                    giant.publish();
                }
                return EQUAL_LISTS;
            });
            scene("rolling restart of the large application", this::rollingRestart);
            scene("mass restart of the large application", this::massRestart);
            ended = true;
        }
    }

    private RpcServer serve() {
        RpcServer.Builder builder = RpcServer.builder(transport);
        for (int i = 0; i < servicesPerApplication; i++) {
            builder.export(ServiceExport.of(NodeService.class, new EchoService(), "", version(i)));
        }
        return builder.build();
    }

    private static String version(int number) {
        return String.valueOf(number);
    }

    private void refer() throws InterruptedException {
        refer("the small applications", small);
        refer("the large application", List.of(giant));
    }

    /**
     * Creates the references to the services of the given applications, and prints the memory that the references need.
     */
    private void refer(String name, List<SimulatedApplication> applications) throws InterruptedException {
        long before = RegistryFigures.used();
        int openedBefore = opened.size();
        long started = System.nanoTime();
        int references = 0;
        long pairs = 0;
        long connections = 0;
        for (SimulatedApplication application : applications) {
            for (int i = 0; i < servicesPerApplication; i++) {
                services.add(client.refer(ServiceReference.to(NodeService.class, application.source())
                        .version(version(i))
                        .protocol(InMemoryTransport.PROTOCOL)
                        .build()));
                references++;
                pairs += application.size();
            }
            connections += Math.min(application.size(), SUBSET);
        }
        double seconds = (System.nanoTime() - started) / 1e9;
        TimeUnit.SECONDS.sleep(connections / CONNECTIONS_PER_SECOND + 1);
        long bytes = RegistryFigures.used() - before;
        print(
                "%,d references to %s: created in %.1f s, %,d connections, %,d bytes of heap for each reference and"
                        + " %.1f bytes for each pair of reference and known instance, everything included",
                references, name, seconds, opened.size() - openedBefore, bytes / references, (double) bytes / pairs);
    }

    private interface Scene {
        /** Runs one scene of the simulation, and returns the number of lists of instances that it published. */
        int run() throws InterruptedException;
    }

    private double quiet(String name) throws InterruptedException {
        return scene(name, () -> {
            TimeUnit.SECONDS.sleep(seconds);
            return 0;
        });
    }

    /**
     * Runs a scene of the simulation between two scenes in which no list of instances changes, and compares the
     * response times. The comparison uses the mean of the two scenes without changes, because the load of the machine
     * can change during the run.
     */
    private void besideQuiet(String name, Scene scene) throws InterruptedException {
        double before = quiet("no change");
        double during = scene(name, scene);
        double after = quiet("no change");
        print("%s: p99 of calls is %.2f times the p99 without changes", name, during / ((before + after) / 2));
    }

    /**
     * Runs one scene of the simulation, and returns the 99th percentile of the calls' response times, in microseconds.
     */
    private double scene(String name, Scene scene) throws InterruptedException {
        long[] ids = changingThreads();
        micros = new ConcurrentHistogram(3);
        failures.clear();
        int openedBefore = opened.size();
        published.clear();
        long processor = processorNanos(ids);
        long allocated = allocatedBytes(ids);
        long started = System.nanoTime();
        int changes = scene.run();
        long took = System.nanoTime() - started;
        TimeUnit.SECONDS.sleep(LAST_LIST_SECONDS);
        processor = processorNanos(ids) - processor;
        allocated = allocatedBytes(ids) - allocated;
        int perChange = Math.max(1, changes);
        print(
                "%s: %,d changes in %.1f s, %.3f ms of processor time and %,.0f KB allocated per change, %,d connections"
                        + " opened, %s%,d calls, %d failed%s, p99 %.0f us",
                name,
                changes,
                took / 1e9,
                processor / NANOS_PER_MILLI / perChange,
                allocated / 1e3 / perChange,
                opened.size() - openedBefore,
                convergence(),
                micros.getTotalCount(),
                failures.size(),
                failures.isEmpty() ? "" : " (the first one: " + failures.peek() + ")",
                micros.getValueAtPercentile(99) * 1.0);
        return micros.getValueAtPercentile(99);
    }

    private String convergence() {
        List<Double> found = new ArrayList<>();
        published.forEach((endpoint, listed) -> {
            Long connected = opened.get(endpoint);
            if (connected != null) {
                found.add((connected - listed) / NANOS_PER_MILLI);
            }
        });
        double[] millis =
                found.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return millis.length == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "connected after %.1f ms (p50) and %.1f ms (p99), ",
                        millis[millis.length / 2],
                        millis[Math.min(millis.length - 1, millis.length * 99 / 100)]);
    }

    private int changes(int perSecond, Runnable change) {
        return steps(seconds * perSecond, perSecond, step -> change.run());
    }

    /** Runs the steps of a scene at a fixed rate, and returns the number of steps. */
    private static int steps(int count, int perSecond, IntConsumer step) {
        FixedRate rate = new FixedRate(TimeUnit.SECONDS.toNanos(1) / perSecond);
        for (int i = 0; i < count; i++) {
            step.accept(i);
            rate.await();
        }
        return count;
    }

    /** Returns the large application with a probability of one half, and otherwise a random small application. */
    private SimulatedApplication anyApplication() {
        return random.nextBoolean() ? giant : small.get(random.nextInt(small.size()));
    }

    private void replaceOne() {
        SimulatedApplication application = anyApplication();
        Endpoint current = application.replace(random.nextInt(application.size()));
        published.put(current, System.nanoTime());
        application.publish();
    }

    private void leaveOrReturn(Deque<Runnable> undo) {
        if (!undo.isEmpty()) {
            undo.pop().run();
            return;
        }
        SimulatedApplication application = anyApplication();
        Instance left = application.removeLast();
        application.publish();
        undo.push(() -> {
            application.add(left);
            application.publish();
        });
    }

    private interface Change {
        Instance of(Instance instance);
    }

    private void changeOne(Change change) {
        SimulatedApplication application = anyApplication();
        application.change(random.nextInt(application.size()), change::of);
        application.publish();
    }

    private Instance otherWeight(Instance instance) {
        return new Instance(instance.endpoint(), instance.attributes().withWeight(50 + random.nextInt(100)));
    }

    private Instance otherRevision(Instance instance) {
        return new Instance(instance.endpoint(), instance.attributes().withRevision("r" + random.nextInt(10)));
    }

    /** Replaces all instances of the large application, a few at a time. */
    private int rollingRestart() {
        int size = giant.size();
        int count = seconds * STEPS_PER_SECOND;
        return steps(count, STEPS_PER_SECOND, step -> {
            for (int i = step * size / count; i < (step + 1) * size / count; i++) {
                giant.replace(i);
            }
            giant.publish();
        });
    }

    /**
     * Removes all but one of the large application's instances within ten seconds, and adds them back within a minute.
     */
    private int massRestart() {
        Deque<Instance> left = new ArrayDeque<>();
        int size = giant.size() - 1;
        int leaving = LEAVE_SECONDS * STEPS_PER_SECOND;
        int returning = RETURN_SECONDS * STEPS_PER_SECOND;
        return steps(leaving, STEPS_PER_SECOND, step -> {
                    for (int i = step * size / leaving; i < (step + 1) * size / leaving; i++) {
                        left.push(giant.removeLast());
                    }
                    giant.publish();
                })
                + steps(returning, STEPS_PER_SECOND, step -> {
                    for (int i = step * size / returning; i < (step + 1) * size / returning; i++) {
                        giant.add(left.pop());
                    }
                    giant.publish();
                });
    }

    private void call(Random chosen) {
        FixedRate rate = new FixedRate(TimeUnit.SECONDS.toNanos(1) / CALLS_PER_SECOND);
        while (!ended) {
            long intended = rate.await();
            try {
                services.get(chosen.nextInt(services.size())).read(0).join();
                micros.recordValue(Math.max(1, (long) ((System.nanoTime() - intended) / NANOS_PER_MICRO)));
            } catch (RuntimeException e) {
                failures.add(e);
            }
        }
    }

    /** Returns the ids of the threads that apply changed lists: this thread and the client's cluster thread. */
    private long[] changingThreads() {
        List<Long> ids = new ArrayList<>(List.of(Thread.currentThread().getId()));
        for (ThreadInfo info : threads.getThreadInfo(threads.getAllThreadIds())) {
            if (info != null && info.getThreadName().startsWith(CLUSTER_THREAD)) {
                ids.add(info.getThreadId());
            }
        }
        return ids.stream().mapToLong(Long::longValue).toArray();
    }

    private long processorNanos(long[] ids) {
        return Arrays.stream(ids).map(threads::getThreadCpuTime).sum();
    }

    private long allocatedBytes(long[] ids) {
        return Arrays.stream(ids).map(threads::getThreadAllocatedBytes).sum();
    }

    private static void print(String format, Object... values) {
        System.out.printf(Locale.ROOT, format + "%n", values);
    }

    /** A transport that also records the time when each connection is opened. */
    private final class CountingTransport implements ClientTransport {

        @Override
        public String protocol() {
            return transport.protocol();
        }

        @Override
        public void prepare(ServiceDescriptor service) {
            transport.prepare(service);
        }

        @Override
        public ClientConnection connect(Endpoint endpoint, int connections, @Nullable Supplier<Tls> tls) {
            opened.put(endpoint, System.nanoTime());
            return transport.connect(endpoint, connections, tls);
        }

        @Override
        public void close() {
            transport.close();
        }
    }
}
