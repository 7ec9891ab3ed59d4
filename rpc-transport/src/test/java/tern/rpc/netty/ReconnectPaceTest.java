package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.Await;
import tern.rpc.transport.ClientConnection;

@Timeout(120)
class ReconnectPaceTest {

    private static final int ENDPOINTS = 10_000;

    private record Task(long atNanos, Runnable action) {}

    private final PriorityQueue<Task> tasks = new PriorityQueue<>(Comparator.comparingLong(Task::atNanos));
    private long now;
    private final ReconnectPace pace = new ReconnectPace(() -> now, this::schedule);

    private void schedule(Runnable action, long millis) {
        tasks.add(new Task(now + TimeUnit.MILLISECONDS.toNanos(millis), action));
    }

    private void pass(Duration time) {
        long until = now + time.toNanos();
        while (!tasks.isEmpty() && tasks.peek().atNanos() <= until) {
            Task next = tasks.remove();
            now = next.atNanos();
            next.action().run();
        }
        now = until;
    }

    /** One of many endpoints, and the attempts to reconnect to it. */
    private final class Peer {
        private final ReconnectBackoff backoff = new ReconnectBackoff(ClientTransportSettings.named("orders"));
        private final List<Peer> begun;
        private boolean back;

        Peer(List<Peer> begun) {
            this.begun = begun;
        }

        void lost() {
            after(backoff.nextMillisAfterALoss());
        }

        private void after(long millis) {
            if (millis == 0) {
                pace.begin(this::attempt, backoff.pauses());
            } else {
                schedule(() -> pace.begin(this::attempt, backoff.pauses()), millis);
            }
        }

        private boolean attempt() {
            begun.add(this);
            if (!back) {
                after(backoff.nextMillis());
            }
            return true;
        }
    }

    @Test
    void tenThousandEndpointsThatFailAtOnceAreTriedFiftyTimesASecondInTurn() {
        List<Peer> begun = new ArrayList<>();
        List<Peer> peers = new ArrayList<>();
        for (int i = 0; i < ENDPOINTS; i++) {
            peers.add(new Peer(begun));
        }
        peers.forEach(Peer::lost);
        assertThat(begun).hasSize(ReconnectPace.AT_ONCE);

        for (int second = 1; second <= 200; second++) {
            pass(Duration.ofSeconds(1));
            assertThat(begun).hasSizeLessThanOrEqualTo(ReconnectPace.AT_ONCE + second * ReconnectPace.PER_SECOND);
        }
        assertThat(begun.stream().distinct()).hasSize(ENDPOINTS);

        peers.forEach(peer -> peer.back = true);
        begun.clear();
        pass(Duration.ofSeconds(ENDPOINTS / ReconnectPace.PER_SECOND + 40));
        assertThat(begun.stream().distinct()).hasSize(ENDPOINTS);
    }

    @Test
    void lostConnectionIsReplacedBeforeEndpointsThatWereOutOfReach() {
        List<Peer> begun = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            pace.begin(new Peer(begun)::attempt, 1);
        }
        Peer lost = new Peer(begun);
        lost.back = true;
        begun.clear();

        lost.lost();
        pass(Duration.ofMillis(5 * 1_000 / ReconnectPace.PER_SECOND));

        assertThat(begun).contains(lost);
    }

    private static void fail(Peer peer, int times) {
        for (int i = 0; i < times; i++) {
            peer.backoff.nextMillis();
        }
    }

    private List<Peer> deadForLong(List<Peer> begun) {
        List<Peer> dead = new ArrayList<>();
        for (int i = 0; i < 5_000; i++) {
            Peer peer = new Peer(begun);
            fail(peer, 20);
            peer.after(0);
            dead.add(peer);
        }
        pass(Duration.ofSeconds(300));
        begun.clear();
        return dead;
    }

    @Test
    void endpointThatFailedFewTimesIsTriedBeforeFiveThousandThatAreDeadForLong() {
        List<Peer> begun = new ArrayList<>();
        deadForLong(begun);
        Peer restarted = new Peer(begun);
        restarted.back = true;
        fail(restarted, 5);

        restarted.after(0);
        pass(Duration.ofMillis(5 * 1_000 / ReconnectPace.PER_SECOND));

        assertThat(begun).contains(restarted);
    }

    /**
     * Endpoints that have been dead for a long time still get a part of the attempts, even if other connections are
     * lost all the time.
     */
    @Test
    void endpointsThatAreDeadForLongGetAFourthOfTheAttemptsWhateverOthersDo() {
        List<Peer> begun = new ArrayList<>();
        Set<Peer> dead = new HashSet<>(deadForLong(begun));

        for (int second = 0; second < 400; second++) {
            for (int i = 0; i < ReconnectPace.PER_SECOND; i++) {
                Peer lost = new Peer(begun);
                lost.back = true;
                lost.lost();
            }
            pass(Duration.ofSeconds(1));
        }

        assertThat(begun.stream().filter(dead::contains).distinct().count()).isGreaterThan(4_500);
    }

    @Test
    void attemptThatIsNoLongerNeededDoesNotCount() {
        List<Peer> begun = new ArrayList<>();
        for (int i = 0; i < ReconnectPace.AT_ONCE; i++) {
            pace.begin(() -> true, 1);
        }
        for (int i = 0; i < 1_000; i++) {
            pace.begin(() -> false, 1);
        }
        Peer last = new Peer(begun);
        last.back = true;
        pace.begin(last::attempt, 1);

        pass(Duration.ofSeconds(1));

        assertThat(begun).containsExactly(last);
    }

    @Test
    void attemptThatThrowsAnExceptionDoesNotStopTheOthers() {
        List<Peer> begun = new ArrayList<>();
        for (int i = 0; i < ReconnectPace.AT_ONCE; i++) {
            pace.begin(() -> true, 1);
        }
        pace.begin(
                () -> {
                    throw new IllegalStateException("on purpose");
                },
                1);
        Peer next = new Peer(begun);
        next.back = true;
        pace.begin(next::attempt, 1);

        pass(Duration.ofSeconds(1));

        assertThat(begun).containsExactly(next);
    }

    /** The clock of the transport stands still, so that the transport never gets another permit. */
    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void connectionsToServersThatCloseThemAtOnceAreReopenedAtTheSharedPace(String protocol) throws Exception {
        AtomicInteger accepted = new AtomicInteger();
        ClientTransportSettings quick =
                ClientTransportSettings.named("pace").withReconnect(Duration.ofMillis(1), Duration.ofMillis(1));
        try (EventLoops loops = EventLoops.start(1);
                ServerSocket server = new ServerSocket(0, 1_000, InetAddress.getByName("0.0.0.0"))) {
            Thread closer = new Thread(() -> closeAll(server, accepted));
            closer.start();
            NettyClientTransport transport =
                    new NettyClientTransport(quick, loops, new AllProtocols().ofClient(protocol), () -> 0);
            List<ClientConnection> connections = new ArrayList<>();
            for (int i = 1; i <= 40; i++) {
                connections.add(transport.connect(new Endpoint("127.0.0." + i, server.getLocalPort()), 1, null));
            }
            Await.until("the permitted attempts", () -> accepted.get() >= 40 + ReconnectPace.AT_ONCE);
            transport.close();

            assertThat(accepted.get()).isEqualTo(40 + ReconnectPace.AT_ONCE);
            server.close();
            closer.join();
        }
    }

    private static void closeAll(ServerSocket server, AtomicInteger accepted) {
        try {
            while (true) {
                server.accept().close();
                accepted.incrementAndGet();
            }
        } catch (IOException e) {
            return; // The test has closed the server.
        }
    }
}
