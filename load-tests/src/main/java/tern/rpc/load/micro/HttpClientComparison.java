package tern.rpc.load.micro;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientProtocol;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.triple.Http1ClientProtocol;
import tern.rpc.netty.triple.Http1Protocol;
import tern.rpc.netty.triple.HttpSettings;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares three clients that make JSON calls over HTTP/1.1: Tern's client, whose waiting callers read their own
 * sockets; Tern's client with only event loops; and the JDK's client. Client and server share one process. The result
 * is the CPU time of this process per call. The clients run alternately for several rounds, and the first round is
 * discarded.
 *
 * <pre>java -cp load-tests/target/load-tests.jar tern.rpc.load.micro.HttpClientComparison [rounds] [seconds]
 * [callers]</pre>
 */
public final class HttpClientComparison {

    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private HttpClientComparison() {}

    public interface Exists {
        boolean exists(String id);
    }

    private record Figures(double cpuMicros, double perSecond) {}

    public static void main(String[] arguments) throws Exception {
        int rounds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 5;
        int seconds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 2;
        int callers = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 20;
        TripleCodecs codecs = new TripleCodecs(
                HessianSerializer.builder().build(),
                new JsonCodec(JsonMapper.builder().build()),
                0);
        EventLoops loops = EventLoops.start(2);
        RpcServer server = RpcServer.builder(new NettyServerTransport(
                        ServerTransportSettings.onPort(0),
                        loops,
                        List.of(new Http1Protocol(codecs, HttpSettings.defaults()))))
                .export(ServiceExport.of(Exists.class, id -> !id.isEmpty()))
                .build();
        server.start();
        Http1ClientProtocol ours = new Http1ClientProtocol(codecs);
        RpcClient direct = client(loops, ours);
        RpcClient looped = client(loops, withoutCallers(ours));
        Map<String, Callable<Boolean>> ways = new LinkedHashMap<>();
        Exists own = exists(direct, server.port());
        Exists byLoop = exists(looped, server.port());
        ways.put("ours, sockets of callers", () -> own.exists("1236"));
        ways.put("ours, event loops only", () -> byLoop.exists("1236"));
        ways.put("the JDK's client", ofJdk(server.port()));
        try {
            measure(ways, rounds, seconds, callers);
        } finally {
            direct.close();
            looped.close();
            server.close();
            loops.close();
        }
    }

    private static RpcClient client(EventLoops loops, ClientProtocol protocol) {
        return RpcClient.builder()
                .transport(new NettyClientTransport(ClientTransportSettings.named("bench"), loops, protocol))
                .build();
    }

    private static Exists exists(RpcClient client, int port) {
        return client.refer(
                ServiceReference.to(Exists.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", port))))
                        .protocol("http")
                        .check(true)
                        .build());
    }

    /** Returns a variant of the protocol in which event loops, not the waiting callers, read the sockets. */
    private static ClientProtocol withoutCallers(Http1ClientProtocol protocol) {
        InvocationHandler handler = (proxy, method, given) -> {
            if (method.getName().equals("callerExchanges")) {
                return null;
            }
            try {
                return method.invoke(protocol, given);
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        };
        return (ClientProtocol) Proxy.newProxyInstance(
                ClientProtocol.class.getClassLoader(), new Class<?>[] {ClientProtocol.class}, handler);
    }

    private static Callable<Boolean> ofJdk(int port) {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        JsonMapper mapper = JsonMapper.builder().build();
        URI target = URI.create("http://127.0.0.1:" + port + '/' + Exists.class.getName() + "/exists");
        return () -> {
            HttpRequest request = HttpRequest.newBuilder(target)
                    .header("content-type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofByteArray(mapper.writeValueAsBytes("1236")))
                    .build();
            return mapper.readValue(
                    client.send(request, BodyHandlers.ofByteArray()).body(), Boolean.class);
        };
    }

    private static void measure(Map<String, Callable<Boolean>> ways, int rounds, int seconds, int callers)
            throws InterruptedException {
        Map<String, List<Figures>> figures = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Map.Entry<String, Callable<Boolean>> way : ways.entrySet()) {
                Figures measured = measure(way.getValue(), callers, seconds);
                if (round > 0) {
                    figures.computeIfAbsent(way.getKey(), added -> new ArrayList<>())
                            .add(measured);
                }
            }
        }
        System.out.printf(
                "JDK %s, %d callers, %d rounds of %d s in turn, load average %.1f%n",
                Runtime.version(), callers, rounds, seconds, PROCESS.getSystemLoadAverage());
        figures.forEach((name, measured) -> System.out.printf(
                Locale.ROOT,
                "%-28s CPU us/call %6.1f  calls/s %,9.0f%n",
                name,
                median(measured.stream().map(Figures::cpuMicros).toList()),
                median(measured.stream().map(Figures::perSecond).toList())));
    }

    private static Figures measure(Callable<Boolean> call, int callers, int seconds) throws InterruptedException {
        AtomicLong calls = new AtomicLong();
        AtomicBoolean over = new AtomicBoolean();
        CountDownLatch ended = new CountDownLatch(callers);
        for (int i = 0; i < callers; i++) {
            new Thread(() -> callOn(call, calls, over, ended), "caller-" + i).start();
        }
        TimeUnit.MILLISECONDS.sleep(500); // The clients warm up during this pause.
        long callsBefore = calls.get();
        long cpu = PROCESS.getProcessCpuTime();
        long began = System.nanoTime();
        TimeUnit.SECONDS.sleep(seconds);
        long made = calls.get() - callsBefore;
        double cpuMicros = (PROCESS.getProcessCpuTime() - cpu) / 1e3 / made;
        double perSecond = made * 1e9 / (System.nanoTime() - began);
        over.set(true);
        ended.await();
        return new Figures(cpuMicros, perSecond);
    }

    private static void callOn(Callable<Boolean> call, AtomicLong calls, AtomicBoolean over, CountDownLatch ended) {
        try {
            while (!over.get()) {
                if (!call.call()) {
                    throw new IllegalStateException("a wrong answer");
                }
                calls.incrementAndGet();
            }
        } catch (Exception e) {
            throw new IllegalStateException("a call failed", e);
        } finally {
            ended.countDown();
        }
    }

    private static double median(List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }
}
