package tern.rpc.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DnsEndpointsTest {

    private final ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
    private final AtomicReference<List<String>> answer = new AtomicReference<>(List.of());
    private final BlockingQueue<EndpointSnapshot> told = new LinkedBlockingQueue<>();
    private final DnsEndpoints resolver = new DnsEndpoints(
            List.of(Instance.of(new Endpoint("orders.internal", 20880), 50)),
            this::lookup,
            executor,
            Duration.ofDays(1));

    @AfterEach
    void close() {
        resolver.close();
        executor.shutdownNow();
    }

    private static Instance named(String host) {
        return Instance.of(new Endpoint(host, 1));
    }

    private InetAddress[] lookup(String host) throws UnknownHostException {
        if (answer.get().isEmpty()) {
            throw new UnknownHostException(host);
        }
        List<InetAddress> addresses = new ArrayList<>();
        for (String address : answer.get()) {
            addresses.add(InetAddress.getByName(address));
        }
        return addresses.toArray(InetAddress[]::new);
    }

    private static Instance instance(String address) {
        return Instance.of(new Endpoint(address, 20880, "orders.internal"), 50);
    }

    private List<Instance> next() throws InterruptedException {
        return nextSnapshot().instances();
    }

    private EndpointSnapshot nextSnapshot() throws InterruptedException {
        EndpointSnapshot snapshot = told.poll(20, TimeUnit.SECONDS);
        assertThat(snapshot).isNotNull();
        return snapshot;
    }

    @Test
    void everyAddressBehindANameIsAnEndpoint() throws Exception {
        answer.set(List.of("10.0.0.2", "10.0.0.1"));

        resolver.start(told::add);

        assertThat(next()).containsExactly(instance("10.0.0.1"), instance("10.0.0.2"));
    }

    @Test
    void addressThatIsListedWithItsNameIsOneProvider() throws Exception {
        for (List<String> names : List.of(
                List.of("localhost", "127.0.0.1"),
                List.of("127.0.0.1", "LOCALHOST"),
                List.of("localhost.", "localhost", "127.0.0.1"))) {
            try (DnsEndpoints resolver = new DnsEndpoints(
                    names.stream().map(DnsEndpointsTest::named).toList(),
                    host -> new InetAddress[] {InetAddress.getByName("127.0.0.1")},
                    executor,
                    Duration.ofDays(1))) {
                resolver.start(told::add);

                assertThat(next())
                        .extracting(each -> each.endpoint().toString())
                        .containsExactly("127.0.0.1:1");
            }
        }
    }

    @Test
    void addressesThatCannotBeAProviderAreLeftOut() throws Exception {
        answer.set(List.of("0.0.0.0", "10.0.0.1", "::", "224.0.0.1", "ff02::1", "255.255.255.255"));

        resolver.start(told::add);

        assertThat(next()).containsExactly(instance("10.0.0.1"));
    }

    @Test
    void changedAddressesAreReportedAfterARefresh() throws Exception {
        answer.set(List.of("10.0.0.1"));
        resolver.start(told::add);
        next();

        answer.set(List.of("10.0.0.9"));
        resolver.refresh();

        assertThat(next()).containsExactly(instance("10.0.0.9"));
    }

    @Test
    void lastKnownAddressesStayWhileANameCannotBeResolved() throws Exception {
        answer.set(List.of("10.0.0.1"));
        resolver.start(told::add);
        next();

        answer.set(List.of());
        resolver.refresh();

        EndpointSnapshot stale = nextSnapshot();
        assertThat(stale.state()).isEqualTo(EndpointSnapshot.State.STALE);
        assertThat(stale.instances()).containsExactly(instance("10.0.0.1"));
        assertThat(stale.why()).isEqualTo("host orders.internal cannot be resolved");
    }

    @Test
    void lookUpThatFailsWithAnyExceptionIsRepeated() throws Exception {
        AtomicInteger lookups = new AtomicInteger();
        DnsEndpoints failing = new DnsEndpoints(
                List.of(named("broken.internal"), named("orders.internal")),
                host -> {
                    if (host.equals("broken.internal") && lookups.incrementAndGet() < 3) {
                        throw new IllegalStateException("on purpose");
                    }
                    return new InetAddress[] {InetAddress.getByName("10.0.0.1")};
                },
                executor,
                Duration.ofMillis(1));

        failing.start(told::add);

        assertThat(next()).extracting(instance -> instance.endpoint().name()).containsExactly("orders.internal");
        assertThat(next())
                .extracting(instance -> instance.endpoint().name())
                .containsExactly("broken.internal", "orders.internal");
        failing.close();
    }

    @Test
    void nameWhoseServersDoNotAnswerDelaysNoOther() throws Exception {
        CountDownLatch letGo = new CountDownLatch(1);
        AtomicInteger lookups = new AtomicInteger();
        ScheduledExecutorService threads = Executors.newScheduledThreadPool(3);
        DnsEndpoints source = new DnsEndpoints(
                List.of(named("hanging.internal"), named("orders.internal"), named("stock.internal")),
                host -> {
                    if (host.equals("hanging.internal")) {
                        await(letGo);
                        return new InetAddress[] {InetAddress.getByName("10.0.0.9")};
                    }
                    int count = host.equals("orders.internal") ? lookups.incrementAndGet() : 1;
                    return new InetAddress[] {InetAddress.getByName("10.0.0." + count)};
                },
                threads,
                Duration.ofDays(1));
        try {
            source.start(told::add);
            EndpointSnapshot first = nextSnapshot();
            assertThat(first.state()).isEqualTo(EndpointSnapshot.State.STALE);
            assertThat(first.why()).isEqualTo("no name server has answered yet for host hanging.internal");
            assertThat(first.instances())
                    .extracting(instance -> instance.endpoint().name())
                    .containsExactlyInAnyOrder("orders.internal", "stock.internal");

            source.refresh();
            assertThat(next())
                    .extracting(instance -> instance.endpoint().host())
                    .contains("10.0.0.2");

            letGo.countDown();
            EndpointSnapshot all = nextSnapshot();
            assertThat(all.state()).isEqualTo(EndpointSnapshot.State.FRESH);
            assertThat(all.instances()).hasSize(3);
        } finally {
            letGo.countDown();
            source.close();
            threads.shutdownNow();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void closingDoesNotWaitForALookUpUnderWay() throws Exception {
        CountDownLatch looking = new CountDownLatch(1);
        CountDownLatch letGo = new CountDownLatch(1);
        DnsEndpoints slow = new DnsEndpoints(
                List.of(named("slow.internal")),
                host -> {
                    looking.countDown();
                    try {
                        assertThat(letGo.await(20, TimeUnit.SECONDS)).isTrue();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return new InetAddress[0];
                },
                executor,
                Duration.ofDays(1));
        slow.start(told::add);
        assertThat(looking.await(20, TimeUnit.SECONDS)).isTrue();

        slow.close();
        letGo.countDown();
        executor.submit(() -> {}).get(20, TimeUnit.SECONDS);

        assertThat(told).isEmpty();
    }

    @Test
    void nameUnknownAtTheStartWasNeverHeard() throws Exception {
        resolver.start(told::add);

        assertThat(nextSnapshot().state()).isEqualTo(EndpointSnapshot.State.UNKNOWN);
    }
}
