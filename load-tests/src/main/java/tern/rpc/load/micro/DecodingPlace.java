package tern.rpc.load.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
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
import tern.sample.api.EchoService;
import tern.sample.api.Person;

/**
 * Requests read, run and answered by workers, or all of that on the event loop, which no server of ours does: what it would
 * save with a method that does nothing. Client and server in one process, one connection, callers that wait; in turn, several
 * rounds, the first thrown away; CPU of the process per call decides.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.DecodingPlace [rounds] [seconds] [callers]</pre>
 */
public final class DecodingPlace {

    private static final int CALLS = 2_000;
    private static final int THREADS = 200;
    private static final List<Integer> BYTES = List.of(20, 1_024, 50 << 10);

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private DecodingPlace() {}

    private record Figures(double cpuMicros, double perSecond) {}

    /** Gives back what it got. */
    private static final class Echo implements EchoService {
        @Override
        public String echo(String text) {
            return text;
        }

        @Override
        public Person echo(Person person) {
            return person;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 3;
        int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2;
        int callers = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 200;
        Map<String, Consumer<RpcServer.Builder>> places = new LinkedHashMap<>();
        places.put("workers", server -> {});
        places.put("event loop", server -> server.threads(HereAndNow::new, Duration.ZERO));
        Map<String, List<Figures>> figures = new LinkedHashMap<>();
        try (EventLoops loops = EventLoops.start(0)) {
            for (int round = 0; round <= rounds; round++) {
                int counted = round;
                for (Map.Entry<String, Consumer<RpcServer.Builder>> place : places.entrySet()) {
                    measure(loops, place.getValue(), callers, seconds, (bytes, measured) -> {
                        if (counted > 0) {
                            figures.computeIfAbsent(
                                            String.format("%,7d bytes, %s", bytes, place.getKey()),
                                            added -> new ArrayList<>())
                                    .add(measured);
                        }
                    });
                }
            }
        }
        print(figures, rounds, seconds, callers);
    }

    private interface Told {
        void tell(int bytes, Figures measured);
    }

    private static void measure(
            EventLoops loops, Consumer<RpcServer.Builder> place, int callers, int seconds, Told told)
            throws InterruptedException {
        DubboProtocol protocol = new DubboProtocol(HessianSerializer.builder().build(), 0);
        NettyServerTransport transport =
                new NettyServerTransport(ServerTransportSettings.onPort(0), loops, List.of(protocol));
        RpcServer.Builder builder = RpcServer.builder(transport)
                .export(ServiceExport.of(EchoService.class, new Echo()))
                .workers(THREADS, CALLS)
                .limit(() -> new FixedLimit(CALLS))
                .maxQueueWait(Duration.ofSeconds(10));
        place.accept(builder);
        try (RpcServer server = builder.build();
                RpcClient client = RpcClient.builder()
                        .transport(new NettyClientTransport(ClientTransportSettings.named("load"), loops, protocol))
                        .build()) {
            server.start();
            EchoService echo = client.refer(ServiceReference.to(
                            EchoService.class,
                            new StaticEndpoints(List.of(new Endpoint("127.0.0.1", transport.port()))))
                    .protocol(protocol.name())
                    .check(true)
                    .build());
            for (int bytes : BYTES) {
                run(echo, bytes, callers, 1); // to get warm
                told.tell(bytes, run(echo, bytes, callers, seconds));
            }
        }
    }

    private static Figures run(EchoService echo, int bytes, int callers, int seconds) throws InterruptedException {
        String text = "x".repeat(bytes);
        AtomicLong calls = new AtomicLong();
        CountDownLatch ended = new CountDownLatch(callers);
        long cpu = PROCESS.getProcessCpuTime();
        long began = System.nanoTime();
        long end = began + TimeUnit.SECONDS.toNanos(seconds);
        for (int i = 0; i < callers; i++) {
            new Thread(() -> {
                        try {
                            while (System.nanoTime() < end) {
                                if (echo.echo(text).length() != bytes) {
                                    throw new IllegalStateException("an answer was wrong");
                                }
                                calls.incrementAndGet();
                            }
                        } finally {
                            ended.countDown();
                        }
                    })
                    .start();
        }
        ended.await();
        return new Figures(
                (PROCESS.getProcessCpuTime() - cpu) / 1e3 / calls.get(),
                calls.get() * 1e9 / (System.nanoTime() - began));
    }

    private static void print(Map<String, List<Figures>> figures, int rounds, int seconds, int callers) {
        Facts.ofMachine().forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.printf("%d callers, %d rounds of %d s in turn%n", callers, rounds, seconds);
        figures.forEach((name, measured) -> System.out.printf(
                Locale.ROOT,
                "%-28s CPU us/call %8.2f  calls/s %,9.0f%n",
                name,
                median(measured.stream().map(Figures::cpuMicros).toList()),
                median(measured.stream().map(Figures::perSecond).toList())));
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
