package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.MethodSettings;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.DnsEndpoints;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.Freezer;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests calls while providers shut down or freeze. */
@Timeout(180)
class LostProvidersTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    /**
     * The timeout of calls waiting for a frozen provider. A healthy provider answers earlier, even on a busy machine.
     */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final int CALLS = 300;
    private static final String NAME = "shop.example";

    public interface Work {
        String whoAnswers(String name);
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
    }

    private RpcServer serve(String host, int port) {
        RpcServer server = RpcServer.builder(ResourceLedger.watch(new NettyServerTransport(
                        ServerTransportSettings.onPort(port).withAddress(host), loops, protocols.ofServer())))
                .export(ServiceExport.of(Work.class, name -> host + ":" + name))
                .build();
        open.add(server);
        server.start();
        return server;
    }

    private static void stop(RpcServer server) {
        server.drain(LONG);
        server.close();
    }

    private RpcClient client(String protocol) {
        return client(protocol, LONG);
    }

    private RpcClient client(String protocol, Duration timeout) {
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(
                        ClientTransportSettings.named("lost"), loops, protocols.ofClient(protocol)))
                .timeout(timeout)
                .build();
        open.add(client);
        return client;
    }

    private static Work refer(RpcClient client, String protocol, EndpointSource resolver) {
        return client.refer(
                ServiceReference.to(Work.class, resolver).protocol(protocol).build());
    }

    /** Makes calls on several threads until this object is closed. */
    private static final class Callers implements AutoCloseable {
        private final AtomicBoolean going = new AtomicBoolean(true);
        private final AtomicInteger calls = new AtomicInteger();
        private final Queue<RpcException> failures = new ConcurrentLinkedQueue<>();
        private final Map<String, AtomicInteger> answers = new ConcurrentHashMap<>();
        private final List<Thread> threads = new ArrayList<>();

        Callers(Work work) {
            for (int i = 0; i < 2; i++) {
                Thread thread = new Thread(() -> call(work), "caller-" + i);
                thread.start();
                threads.add(thread);
            }
        }

        private void call(Work work) {
            while (going.get()) {
                try {
                    answers.computeIfAbsent(work.whoAnswers("x"), host -> new AtomicInteger())
                            .incrementAndGet();
                } catch (RpcException e) {
                    failures.add(e);
                }
                calls.incrementAndGet();
            }
        }

        void awaitMore() {
            int before = calls.get();
            Await.until(CALLS + " more calls", () -> calls.get() >= before + CALLS);
        }

        @Override
        public void close() throws InterruptedException {
            going.set(false);
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void providerThatWentAwayIsNamedAndNothingWasExecuted(String protocol) {
        RpcServer server = serve("127.0.0.1", 0);
        Endpoint endpoint = new Endpoint("127.0.0.1", server.port());
        Work work = refer(client(protocol), protocol, new StaticEndpoints(List.of(endpoint)));
        assertThat(work.whoAnswers("x")).isEqualTo("127.0.0.1:x");

        stop(server);

        RpcException failure = firstFailure(work, protocol);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageContaining("Work/whoAnswers").hasMessageContaining(endpoint.toString());
    }

    /**
     * Makes calls until one fails, and returns the failure. A failure over HTTP/1.1 is skipped if it does not show
     * whether the method ran. Such a failure occurs if the server closes an idle connection while the client writes a
     * request to it.
     */
    private static RpcException firstFailure(Work work, String protocol) {
        List<RpcException> failures = new ArrayList<>();
        Await.until("the client has seen the end of the last connection", () -> {
            try {
                work.whoAnswers("x");
                return false;
            } catch (RpcException e) {
                failures.add(e);
                return !protocol.equals("http") || e.wasExecuted() == Executed.NO;
            }
        });
        return failures.get(failures.size() - 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void frozenProviderCostsTheCallsThatItHasAndNoMore(String protocol) throws Exception {
        Freezer freezer = new Freezer("127.0.0.1", serve("127.0.0.1", 0).port());
        open.add(freezer);
        List<Endpoint> endpoints = List.of(
                new Endpoint("127.0.0.1", serve("127.0.0.1", 0).port()),
                new Endpoint("127.0.0.1", freezer.port()),
                new Endpoint("127.0.0.1", serve("127.0.0.1", 0).port()));
        Work work = refer(client(protocol, TIMEOUT), protocol, new StaticEndpoints(endpoints));
        try (Callers callers = new Callers(work)) {
            callers.awaitMore();

            freezer.freeze();
            long frozen = System.nanoTime();

            Await.until("both callers have waited for the frozen provider, or gone on without it", () -> {
                callers.awaitMore();
                return callers.calls.get() > 20 * CALLS;
            });
            callers.close();
            // On a busy machine, the wait can be so long that the client tries the frozen provider again. Each try
            // consists of one call, which may fail.
            long trials = (System.nanoTime() - frozen) / TIMEOUT.toNanos();
            assertThat(callers.failures.size())
                    .as("calls that failed")
                    .isLessThanOrEqualTo(callers.threads.size() + (int) trials);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void frozenProviderCostsNoCallOfAnIdempotentMethod(String protocol) throws Exception {
        Freezer freezer = new Freezer("127.0.0.1", serve("127.0.0.1", 0).port());
        open.add(freezer);
        List<Endpoint> endpoints = List.of(
                new Endpoint("127.0.0.1", serve("127.0.0.1", 0).port()),
                new Endpoint("127.0.0.1", freezer.port()),
                new Endpoint("127.0.0.1", serve("127.0.0.1", 0).port()));
        RpcClient client = client(protocol);
        Work work = client.refer(ServiceReference.to(Work.class, new StaticEndpoints(endpoints))
                .protocol(protocol)
                .defaults(MethodSettings.NONE.withIdempotent(true))
                .build());
        try (Callers callers = new Callers(work)) {
            callers.awaitMore();

            freezer.freeze();

            Await.until(
                    "a call has left the frozen provider",
                    () -> client.references().get(0).attempts().retries() > 0);
            callers.awaitMore();
            callers.close();
            assertThat(callers.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void thawedProviderGetsCallsAgain(String protocol) throws Exception {
        RpcServer server = serve("127.0.0.2", 0);
        Freezer freezer = new Freezer("127.0.0.2", server.port());
        open.add(freezer);
        List<Endpoint> endpoints = List.of(
                new Endpoint("127.0.0.1", serve("127.0.0.1", 0).port()), new Endpoint("127.0.0.1", freezer.port()));
        Work work = refer(client(protocol, Duration.ofSeconds(1)), protocol, new StaticEndpoints(endpoints));
        try (Callers callers = new Callers(work)) {
            Await.until("both answer", () -> callers.answers.size() == 2);
            freezer.freeze();
            Await.until("a call has failed", () -> !callers.failures.isEmpty());
            int before = callers.answers.get("127.0.0.2:x").get();

            freezer.thaw();

            Await.until(
                    "the thawed provider answers again",
                    () -> callers.answers.get("127.0.0.2:x").get() > before + 10);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void noCallFailsWhileOneOfThreeIsStopped(String protocol) throws Exception {
        List<RpcServer> servers = List.of(serve("127.0.0.1", 0), serve("127.0.0.1", 0), serve("127.0.0.1", 0));
        Work work = refer(
                client(protocol),
                protocol,
                new StaticEndpoints(servers.stream()
                        .map(server -> new Endpoint("127.0.0.1", server.port()))
                        .toList()));
        try (Callers callers = new Callers(work)) {
            callers.awaitMore();

            stop(servers.get(1));

            callers.awaitMore();
            callers.close();
            assertThat(callers.failures).isEmpty();
        }
    }

    @ParameterizedTest
    @EnabledOnOs(value = OS.LINUX, disabledReason = "others have one loopback address")
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void noCallFailsWhileOneOfTwoAddressesBehindANameIsStopped(String protocol) throws Exception {
        Pair pair = pair();
        RpcClient client = client(protocol);
        Work work = refer(client, protocol, behindAName(client, pair));
        try (Callers callers = new Callers(work)) {
            callers.awaitMore();
            Await.until(
                    "both have answered",
                    () -> callers.answers.keySet().containsAll(List.of("127.0.0.1:x", "127.0.0.2:x")));

            stop(pair.one);

            callers.awaitMore();
            callers.close();
            assertThat(callers.failures).isEmpty();
        }
        assertThat(work.whoAnswers("y")).isEqualTo("127.0.0.2:y");
    }

    @ParameterizedTest
    @EnabledOnOs(value = OS.LINUX, disabledReason = "others have one loopback address")
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void callsNameAnAddressOnceBothAddressesBehindANameAreStopped(String protocol) {
        Pair pair = pair();
        RpcClient client = client(protocol);
        Work work = refer(client, protocol, behindAName(client, pair));
        assertThat(work.whoAnswers("x")).endsWith(":x");

        stop(pair.one);
        assertThat(work.whoAnswers("y")).isEqualTo("127.0.0.2:y");
        stop(pair.other);

        RpcException failure = firstFailure(work, protocol);
        assertThat(failure.code()).isEqualTo(StatusCode.UNAVAILABLE);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure).hasMessageMatching(".* 127\\.0\\.0\\.[12]:" + pair.one.port() + "[: ].*");
    }

    private record Pair(RpcServer one, RpcServer other) {}

    /** Starts two servers that use the same port number on two addresses of this machine. */
    private Pair pair() {
        @Nullable RuntimeException taken = null;
        for (int i = 0; i < 20; i++) {
            RpcServer one = serve("127.0.0.1", 0);
            try {
                return new Pair(one, serve("127.0.0.2", one.port()));
            } catch (RuntimeException e) {
                taken = e;
                one.close();
            }
        }
        throw new AssertionError("no port is free at both addresses", taken);
    }

    private static EndpointSource behindAName(RpcClient client, Pair pair) {
        return new DnsEndpoints(
                List.of(Instance.of(new Endpoint(NAME, pair.one.port()))),
                host -> new InetAddress[] {literal(host, 1), literal(host, 2)},
                client.timer(),
                DnsEndpoints.DEFAULT_INTERVAL);
    }

    private static InetAddress literal(String host, int last) throws UnknownHostException {
        assertThat(host).isEqualTo(NAME);
        return InetAddress.getByAddress(host, new byte[] {127, 0, 0, (byte) last});
    }
}
