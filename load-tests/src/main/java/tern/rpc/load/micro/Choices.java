package tern.rpc.load.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.springframework.core.task.VirtualThreadTaskExecutor;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.limit.FixedLimit;
import tern.rpc.load.replay.Facts;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/**
 * Measures the cost of a call over the dubbo protocol when one setting differs from its default. The settings are the
 * number of event loops, connections or callers, the way in which callers wait, and the kind of threads that run the
 * methods. Client and server share one process, and the call is an echo. All variants run alternately for several
 * rounds, and the first round is discarded. The result is the process's CPU time per call.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.Choices [rounds] [millis] [part of a name]</pre>
 */
public final class Choices {

    private static final int CALLS = 2_000;
    private static final int THREADS = 200;
    private static final int CALLERS = 200;
    private static final int ASYNCHRONOUS_CALLERS = 4;

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Choices() {}

    /** The measured service. */
    public interface Echo {
        String echo(String text);

        CompletableFuture<String> echoLater(String text);
    }

    private static final class Echoing implements Echo {
        @Override
        public String echo(String text) {
            return text;
        }

        @Override
        public CompletableFuture<String> echoLater(String text) {
            return CompletableFuture.completedFuture(text);
        }
    }

    /** The settings of one measured variant. */
    private record Choice(
            int loops, int connections, int bytes, int callers, Way way, Consumer<RpcServer.Builder> server) {

        static final Choice DEFAULT = new Choice(0, 1, 20, CALLERS, Way.WAITING, server -> {});

        Choice loops(int number) {
            return new Choice(number, connections, bytes, callers, way, server);
        }

        Choice connections(int number) {
            return new Choice(loops, number, bytes, callers, way, server);
        }

        Choice bytes(int number) {
            return new Choice(loops, connections, number, callers, way, server);
        }

        Choice callers(int number, Way how) {
            return new Choice(loops, connections, bytes, number, how, server);
        }

        Choice server(Consumer<RpcServer.Builder> settings) {
            return new Choice(loops, connections, bytes, callers, way, settings);
        }
    }

    private enum Way {
        WAITING {
            @Override
            void call(Echo echo, String text, int callers, Load load) throws InterruptedException {
                inThreads(Thread::new, callers, () -> load.calls(echo, text));
            }
        },
        VIRTUAL_THREADS {
            @Override
            void call(Echo echo, String text, int callers, Load load) throws InterruptedException {
                inThreads(virtualThreads(), callers, () -> load.calls(echo, text));
            }
        },
        ASYNCHRONOUS {
            @Override
            void call(Echo echo, String text, int callers, Load load) throws InterruptedException {
                int each = callers / ASYNCHRONOUS_CALLERS;
                inThreads(Thread::new, ASYNCHRONOUS_CALLERS, () -> load.callsAhead(echo, text, each));
            }
        };

        abstract void call(Echo echo, String text, int callers, Load load) throws InterruptedException;

        private static void inThreads(ThreadFactory factory, int number, Runnable work) throws InterruptedException {
            CountDownLatch ended = new CountDownLatch(number);
            for (int i = 0; i < number; i++) {
                factory.newThread(() -> {
                            try {
                                work.run();
                            } finally {
                                ended.countDown();
                            }
                        })
                        .start();
            }
            ended.await();
        }
    }

    private static ThreadFactory virtualThreads() {
        return new VirtualThreadTaskExecutor("virtual-").getVirtualThreadFactory();
    }

    /** Repeats a call for a given time. */
    private static final class Load {

        private final long end;
        private final AtomicLong calls = new AtomicLong();
        private final AtomicBoolean wrong = new AtomicBoolean();

        Load(long millis) {
            this.end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        }

        void calls(Echo echo, String text) {
            while (System.nanoTime() < end) {
                answered(echo.echo(text), text);
            }
        }

        void callsAhead(Echo echo, String text, int ahead) {
            Semaphore free = new Semaphore(ahead);
            while (System.nanoTime() < end) {
                free.acquireUninterruptibly();
                echo.echoLater(text).whenComplete((answer, failure) -> {
                    answered(failure == null ? answer : "", text);
                    free.release();
                });
            }
            free.acquireUninterruptibly(ahead);
        }

        private void answered(String answer, String text) {
            if (answer.length() != text.length()) {
                wrong.set(true);
            }
            calls.incrementAndGet();
        }

        long made() {
            if (wrong.get()) {
                throw new IllegalStateException("an answer was wrong");
            }
            return calls.get();
        }
    }

    private record Figures(double cpuMicros, double perSecond) {}

    private static Map<String, Choice> choices() {
        Choice usual = Choice.DEFAULT;
        UnaryOperator<Choice> here =
                choice -> choice.server(server -> server.threads(CallingThread::new, Duration.ZERO));
        Map<String, Choice> choices = new LinkedHashMap<>();
        choices.put("as by default", usual);
        for (int loops : new int[] {1, 2, 4}) {
            choices.put("event loops: " + loops, usual.loops(loops));
        }
        for (int connections : new int[] {2, 8, 64}) {
            choices.put("connections: " + connections, usual.connections(connections));
        }
        for (int callers : new int[] {1, 10, 1_000}) {
            choices.put("callers: " + callers, usual.callers(callers, Way.WAITING));
        }
        choices.put("callers: asynchronous", usual.callers(CALLERS, Way.ASYNCHRONOUS));
        choices.put("callers: asynchronous, 10", usual.callers(10, Way.ASYNCHRONOUS));
        choices.put("event loop: 20 bytes", here.apply(usual));
        for (int bytes : new int[] {1_024, 50 << 10}) {
            choices.put(String.format("workers: %,d bytes", bytes), usual.bytes(bytes));
            choices.put(String.format("event loop: %,d bytes", bytes), here.apply(usual.bytes(bytes)));
        }
        if (Runtime.version().feature() >= 21) {
            choices.put("callers: virtual threads", usual.callers(CALLERS, Way.VIRTUAL_THREADS));
            choices.put(
                    "workers: virtual threads",
                    usual.server(server -> server.threads(virtualThreads(), Duration.ZERO)));
        }
        return choices;
    }

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 3;
        int millis = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2_000;
        String part = arguments.length > 2 ? arguments[2] : "";
        Map<String, List<Figures>> figures = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Map.Entry<String, Choice> choice : choices().entrySet()) {
                if (choice.getKey().contains(part)) {
                    Figures measured = measure(choice.getValue(), millis);
                    if (round > 0) {
                        figures.computeIfAbsent(choice.getKey(), added -> new ArrayList<>())
                                .add(measured);
                    }
                }
            }
        }
        print(figures, rounds, millis);
    }

    private static Figures measure(Choice choice, int millis) throws InterruptedException {
        DubboProtocol protocol = new DubboProtocol(HessianSerializer.builder().build(), 0);
        try (EventLoops loops = EventLoops.start(choice.loops())) {
            NettyServerTransport transport =
                    new NettyServerTransport(ServerTransportSettings.onPort(0), loops, List.of(protocol));
            RpcServer.Builder builder = RpcServer.builder(transport)
                    .export(ServiceExport.of(Echo.class, new Echoing()))
                    .workers(THREADS, CALLS)
                    .limit(() -> new FixedLimit(CALLS))
                    .maxQueueWait(Duration.ofSeconds(10));
            choice.server().accept(builder);
            try (RpcServer server = builder.build();
                    RpcClient client = RpcClient.builder()
                            .transport(new NettyClientTransport(ClientTransportSettings.named("load"), loops, protocol))
                            .build()) {
                server.start();
                StaticEndpoints there = new StaticEndpoints(List.of(new Endpoint("127.0.0.1", transport.port())));
                Echo echo = client.refer(ServiceReference.to(Echo.class, there)
                        .protocol(protocol.name())
                        .connections(choice.connections())
                        .check(true)
                        .build());
                run(echo, choice, millis / 2); // The first run is a warm-up.
                return run(echo, choice, millis);
            }
        }
    }

    private static Figures run(Echo echo, Choice choice, int millis) throws InterruptedException {
        String text = "x".repeat(choice.bytes());
        long cpu = PROCESS.getProcessCpuTime();
        long began = System.nanoTime();
        Load load = new Load(millis);
        choice.way().call(echo, text, choice.callers(), load);
        return new Figures(
                (PROCESS.getProcessCpuTime() - cpu) / 1e3 / load.made(),
                load.made() * 1e9 / (System.nanoTime() - began));
    }

    private static void print(Map<String, List<Figures>> figures, int rounds, int millis) {
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.printf("%d rounds of %d ms in turn%n", rounds, millis);
        figures.forEach((name, measured) -> {
            double[] cpu =
                    measured.stream().mapToDouble(Figures::cpuMicros).sorted().toArray();
            double[] perSecond =
                    measured.stream().mapToDouble(Figures::perSecond).sorted().toArray();
            System.out.printf(
                    Locale.ROOT,
                    "%-28s CPU us/call %8.2f (%s)  calls/s %,9.0f%n",
                    name,
                    cpu[cpu.length / 2],
                    spread(cpu),
                    perSecond[perSecond.length / 2]);
        });
    }

    private static String spread(double[] sorted) {
        return String.format(
                Locale.ROOT, "%.1f-%.1f", sorted[0], Arrays.stream(sorted).max().orElse(sorted[0]));
    }
}
