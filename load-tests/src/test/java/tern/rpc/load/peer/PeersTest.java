package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;
import tern.rpc.load.peer.Peer.Services;
import tern.rpc.load.peer.proto.FeedRequest;
import tern.rpc.load.peer.proto.Item;
import tern.sample.api.Page;
import tern.sample.api.User;

class PeersTest {

    private static final String FLOOR = "floor";

    /**
     * The maximum time that Dubbo waits for its callers when it closes, in milliseconds. By default, Dubbo waits up to
     * 10 s.
     */
    private static final String DUBBO_SHUTDOWN_WAIT = "dubbo.service.shutdown.wait";

    private static final String LARGE = "x".repeat(200 * 1_024);

    static final List<String> FLOORS =
            Peer.NAMES.stream().filter(name -> name.startsWith(FLOOR)).toList();

    /**
     * The tested frameworks: all except {@code floor} and those with the JDK's TLS engine. JVM flags select the TLS
     * engine, so one process can test only one engine.
     */
    static final List<String> OTHERS = Peer.NAMES.stream()
            .filter(name -> !name.startsWith(FLOOR) && Encryption.of(name) != Encryption.JDK)
            .toList();

    @BeforeAll
    static void closeDubboSoon() {
        System.setProperty(DUBBO_SHUTDOWN_WAIT, "1");
    }

    @AfterAll
    static void closeDubboAsUsual() {
        System.clearProperty(DUBBO_SHUTDOWN_WAIT);
    }

    @ParameterizedTest
    @FieldSource("OTHERS")
    void everyCallOfTheScenesIsAnswered(String name) throws Exception {
        User unknown = BenchmarkServices.user(1);
        unknown.setName("Ada Lovelace");
        try (Peer peer = Peer.named(name)) {
            int port = freePort();
            peer.serve(port, services());
            Services services = peer.connect(port);

            assertAnswers(services);
            assertThat(services.users().existUser("")).isFalse();
            assertThat(services.users().createUser(unknown)).isFalse();
            assertThat(services.work().build(2)).isEqualTo(new BenchmarkServices().build(2));
            if (Peer.STREAMING.contains(name)) {
                assertStreams(services.streams());
            }
            if (SlowReaders.PEERS.contains(name)) {
                assertItemsComeAsAskedFor(services.streams());
            }
            if (BareConnection.PEERS.contains(name)) {
                assertBareClientIsAnswered(name, port);
            }
        }
    }

    @ParameterizedTest
    @FieldSource("FLOORS")
    void theFloorHasAnAnswerReadyForEveryCall(String name) throws IOException {
        try (Peer peer = Peer.named(name)) {
            assertAnswers(served(peer));
        }
    }

    private static void assertStreams(ProtobufStreams streams) {
        Histogram latencies = Load.newHistogram();
        SceneCall feed = new FeedCall(streams, 3_000);
        SceneCall ping = new PingCall(streams, 100);

        assertThat(feed.isRight()).isTrue();
        feed.record(latencies, 1_000_000);
        assertThat(latencies.getTotalCount()).isEqualTo(3_000);
        assertThat(ping.isRight()).isTrue();
        ping.record(latencies, 1_000_000);
        assertThat(latencies.getTotalCount()).isEqualTo(3_100);
    }

    private static void assertItemsComeAsAskedFor(ProtobufStreams streams) throws Exception {
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
        streams.watch(FeedRequest.newBuilder().setItems(2).build()).subscribe(new Flow.Subscriber<>() {
            @Override
            public void onSubscribe(Flow.Subscription given) {
                subscribed.complete(given);
            }

            @Override
            public void onNext(Item item) {
                events.add(item);
            }

            @Override
            public void onError(Throwable failure) {
                events.add(failure);
            }

            @Override
            public void onComplete() {
                events.add("end");
            }
        });

        Flow.Subscription subscription = subscribed.get(30, TimeUnit.SECONDS);
        subscription.request(1);
        assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo(Items.item(0));
        subscription.request(1);
        assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo(Items.item(1));
        // Armeria signals the end of the stream only if the subscriber has requested another message.
        subscription.request(1);
        assertThat(events.poll(30, TimeUnit.SECONDS)).isEqualTo("end");
        assertThat(events).isEmpty();
    }

    private static void assertBareClientIsAnswered(String name, int port) throws IOException {
        try (BareConnection client = BareConnection.to(name, port)) {
            client.open();
            client.call();
            client.call();
            client.ping();
        }
    }

    private static void assertAnswers(Services services) {
        assertThat(services.users().existUser("1236")).isTrue();
        assertThat(services.users().createUser(BenchmarkServices.user(1))).isTrue();
        assertThat(services.users().getUser(7)).isEqualTo(BenchmarkServices.user(7));
        assertThat(services.users().listUser(3)).isEqualTo(page(3));
        assertThat(services.echo().echo("abc")).isEqualTo("abc");
        assertThat(services.echo().echo(LARGE)).isEqualTo(LARGE);
        assertThat(services.echo().echo(SceneCall.somebody())).isEqualTo(SceneCall.somebody());
        assertThat(services.work().build(1)).isEqualTo(new BenchmarkServices().build(1));
    }

    /** Compares the numbers of bytes with a tolerance, because hessian2 encodes small user ids in fewer bytes. */
    @Test
    void floorSendsAsManyBytesAsTheDubboProtocol() throws IOException {
        Map<String, List<Long>> dubbo = bytes("tern-dubbo");

        bytes(FLOOR).forEach((call, counts) -> {
            assertThat(counts.get(0))
                    .as(call + " request")
                    .isCloseTo(dubbo.get(call).get(0), within(2L));
            assertThat(counts.get(1))
                    .as(call + " answer")
                    .isCloseTo(dubbo.get(call).get(1), within(2L));
        });
    }

    /** Returns the numbers of sent and received bytes for each kind of call. */
    private static Map<String, List<Long>> bytes(String name) throws IOException {
        Map<String, List<Long>> counted = new LinkedHashMap<>();
        int port = freePort();
        try (Peer peer = Peer.named(name);
                CountingRelay relay = new CountingRelay(port)) {
            peer.serve(port, services());
            Services services = peer.connect(relay.port());
            Map<String, Runnable> calls = Map.of(
                    "existUser", () -> services.users().existUser("1236"),
                    "createUser", () -> services.users().createUser(BenchmarkServices.user(1)),
                    "getUser", () -> services.users().getUser(7),
                    "listUser", () -> services.users().listUser(1),
                    "1KB", () -> services.echo().echo("x".repeat(1_024)),
                    "200KB", () -> services.echo().echo(LARGE),
                    "Person", () -> services.echo().echo(SceneCall.somebody()),
                    "work", () -> services.work().build(10_000));
            calls.forEach((call, made) -> {
                // The first call is not counted, because it also contains bytes that are sent only once per connection
                // or method.
                made.run();
                long there = relay.there();
                long back = relay.back();
                made.run();
                counted.put(call, List.of(relay.there() - there, relay.back() - back));
            });
        }
        return counted;
    }

    private static Services served(Peer peer) throws IOException {
        int port = freePort();
        peer.serve(port, services());
        return peer.connect(port);
    }

    private static Services services() {
        BenchmarkServices target = new BenchmarkServices();
        return new Services(target, target, target, new StreamAnswers());
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    private static Page<User> page(int pageNo) {
        return new BenchmarkServices().listUser(pageNo);
    }
}
