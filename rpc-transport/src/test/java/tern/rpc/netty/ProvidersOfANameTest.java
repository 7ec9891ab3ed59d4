package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.DnsEndpoints;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.Instance;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.peer.Await;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests calls to five providers behind one host name, while the addresses of the name change or all providers fail. */
@Timeout(120)
@EnabledOnOs(value = OS.LINUX, disabledReason = "others have one loopback address")
class ProvidersOfANameTest {

    private static final String NAME = "shop.example";
    private static final int PROVIDERS = 5;

    public interface Work {
        int whoAnswers();
    }

    private final EventLoops loops = EventLoops.start(2);
    private final DubboProtocol dubbo =
            new DubboProtocol(HessianSerializer.builder().build(), 0);
    private final List<AutoCloseable> open = new ArrayList<>();
    private final Map<Integer, RpcServer> servers = new ConcurrentHashMap<>();
    private final Map<Integer, AtomicInteger> arrived = new ConcurrentHashMap<>();
    private final AtomicInteger lookups = new AtomicInteger();
    private volatile int found = PROVIDERS; // The number of addresses that a lookup returns.
    private volatile boolean failing;

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        loops.close();
    }

    private int answer(int number) {
        arrived.get(number).incrementAndGet();
        if (failing) {
            throw new RpcException(StatusCode.UNAVAILABLE, "provider " + number + " has no database");
        }
        return number;
    }

    private RpcServer serve(int number, int port) {
        arrived.put(number, new AtomicInteger());
        RpcServer server = RpcServer.builder(ResourceLedger.watch(new NettyServerTransport(
                        ServerTransportSettings.onPort(port).withAddress("127.0.0." + number), loops, List.of(dubbo))))
                .export(ServiceExport.of(Work.class, () -> answer(number)))
                .build();
        server.start();
        open.add(server);
        servers.put(number, server);
        return server;
    }

    /** Starts the providers on the same port of five addresses, and returns the port. */
    private int servePort() {
        @Nullable RuntimeException taken = null;
        for (int attempt = 0; attempt < 20; attempt++) {
            RpcServer first = serve(1, 0);
            try {
                for (int number = 2; number <= PROVIDERS; number++) {
                    serve(number, first.port());
                }
                return first.port();
            } catch (RuntimeException e) {
                taken = e;
                servers.values().forEach(RpcServer::close);
            }
        }
        throw new AssertionError("no port is free at all addresses", taken);
    }

    private Work refer() {
        int port = servePort();
        RpcClient client = RpcClient.builder()
                .transport(new NettyClientTransport(ClientTransportSettings.named("named"), loops, dubbo))
                .timeout(Duration.ofSeconds(20))
                .build();
        open.add(client);
        Work work = client.refer(ServiceReference.to(
                        Work.class,
                        new DnsEndpoints(
                                List.of(Instance.of(new Endpoint(NAME, port))),
                                this::lookup,
                                client.timer(),
                                Duration.ofMillis(5)))
                .build());
        Set<Integer> answered = new HashSet<>();
        Await.until("all providers answer", () -> {
            answered.add(work.whoAnswers());
            return answered.size() == PROVIDERS;
        });
        return work;
    }

    private InetAddress[] lookup(String host) throws UnknownHostException {
        int count = found;
        lookups.incrementAndGet();
        if (count == 0) {
            throw new UnknownHostException(host);
        }
        InetAddress[] addresses = new InetAddress[count];
        for (int i = 0; i < count; i++) {
            addresses[i] = InetAddress.getByAddress(host, new byte[] {127, 0, 0, (byte) (i + 1)});
        }
        return addresses;
    }

    private void finds(int count) {
        found = count;
        int before = lookups.get();
        Await.until("the name was looked up twice", () -> lookups.get() >= before + 2);
    }

    @Test
    void noCallFailsWhenTheNameCanNoLongerBeResolved() {
        Work work = refer();

        finds(0);

        assertThat(IntStream.range(0, 500)
                        .map(i -> work.whoAnswers())
                        .distinct()
                        .count())
                .isEqualTo(PROVIDERS);
    }

    @Test
    void providersMissingFromAShorterAnswerAreUsedOnlyWhenTheOthersAreGone() {
        Work work = refer();

        finds(2);

        Await.until(
                "100 calls in a row go to the addresses of the answer",
                () -> IntStream.range(0, 100).map(i -> work.whoAnswers()).allMatch(number -> number <= 2));
        for (int number = 1; number <= 2; number++) {
            servers.get(number).drain(Duration.ofSeconds(20));
            servers.get(number).close();
        }
        assertThat(IntStream.range(0, 300).map(i -> work.whoAnswers()).boxed())
                .as("the missing providers, which are kept for 30 s while they answer")
                .allMatch(number -> number > 2);
    }

    @Test
    void callsReachAllProvidersAndGetTheirErrorsWhileAllFail() {
        Work work = refer();
        failing = true;
        Map<Integer, Integer> before = new ConcurrentHashMap<>();
        arrived.forEach((number, count) -> before.put(number, count.get()));

        for (int i = 0; i < 500; i++) {
            assertThatThrownBy(work::whoAnswers)
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("has no database");
        }
        assertThat(arrived)
                .allSatisfy((number, count) ->
                        assertThat(count.get() - before.get(number)).isGreaterThan(20));

        failing = false;
        assertThat(work.whoAnswers()).isBetween(1, PROVIDERS);
    }
}
