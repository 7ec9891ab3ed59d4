package tern.rpc.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.registry.AdvertisedAddress.Answer;
import tern.rpc.registry.AdvertisedAddress.CardAddress;
import tern.rpc.registry.AdvertisedAddress.Machine;
import tern.rpc.registry.AdvertisedAddress.Wish;

class AdvertisedAddressTest {

    private static final Wish NO_WISH = new Wish(null, 0, null);
    private static final InetSocketAddress REMOTE = new InetSocketAddress(address("10.9.0.1"), 2181);
    private static final List<InetSocketAddress> REMOTES = List.of(REMOTE);
    private static final InetSocketAddress HERE = new InetSocketAddress(address("127.0.0.1"), 2181);

    private static InetAddress address(String text) {
        try {
            return InetAddress.getByName(text);
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A machine with a network interface and the bridge of a container engine. */
    private record FakeMachine(String route, Answer answer) implements Machine {

        @Override
        public InetAddress routeTo(InetSocketAddress remote) throws IOException {
            if (route.isEmpty()) {
                throw new IOException("network unreachable");
            }
            return address(route);
        }

        @Override
        public List<CardAddress> addresses() {
            return List.of(
                    new CardAddress("docker0", address("172.17.0.1")),
                    new CardAddress("eth0", address("10.1.2.3")),
                    new CardAddress("lo", address("127.0.0.1")));
        }

        @Override
        public Answer connectTo(String host, int port, LongSupplier accepted) {
            return answer;
        }
    }

    private static final Machine MACHINE = new FakeMachine("10.1.2.3", Answer.THIS_PROCESS);

    @Test
    void configuredHostAndPortWin() {
        assertThat(AdvertisedAddress.choose(new Wish("shop.example", 80, null), null, 20880, REMOTES, MACHINE))
                .extracting(AdvertisedAddress::host, AdvertisedAddress::port)
                .containsExactly("shop.example", 80);
    }

    @ParameterizedTest
    @CsvSource({
        "fe80::1%eth0, without the part after %",
        "0.0.0.0, the address of one machine",
        "::, the address of one machine",
        "224.0.0.1, the address of one machine",
        "ff02::1, the address of one machine",
        "127.0.0.1:20880, the port belongs to rpc.server.advertise.port",
        "shop.example:80, the port belongs to rpc.server.advertise.port",
        "[::1]:80, the port belongs to rpc.server.advertise.port",
        "300.1.1.1, a host name or an IP address",
        "10.0.0, a host name or an IP address",
        "1:2:3, a host name or an IP address",
    })
    void hostThatConsumersCannotReachIsRefusedWithTheReason(String host, String reason) {
        assertThatThrownBy(() -> new Wish(host, 0, null))
                .hasMessageStartingWith("rpc.server.advertise.host is '" + host + "'; expected ")
                .hasMessageContaining(reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shop.example", "shop", "10.0.0.7", "255.0.0.1", "2001:db8::1", "::1", "1and1.example"})
    void hostNamesAndAddressesAreAccepted(String host) {
        assertThat(new Wish(host, 0, null).host()).isEqualTo(host);
    }

    @Test
    void routeToTheRegistryGivesTheAddress() {
        assertThat(AdvertisedAddress.choose(NO_WISH, null, 20880, REMOTES, MACHINE))
                .isEqualTo(new AdvertisedAddress("10.1.2.3", 20880, "the route to 10.9.0.1"));
    }

    @Test
    void networkOrCardChoosesAmongTheAddresses() {
        for (String network : List.of("10.1.0.0/16", "eth0", "10.1.2.3/32", "10.0.0.0/8")) {
            assertThat(AdvertisedAddress.choose(new Wish(null, 0, network), null, 20880, REMOTES, MACHINE)
                            .host())
                    .isEqualTo("10.1.2.3");
        }
        assertThatThrownBy(
                        () -> AdvertisedAddress.choose(new Wish(null, 0, "10.2.0.0/16"), null, 20880, REMOTES, MACHINE))
                .hasMessage(
                        "rpc.server.advertise.network is 10.2.0.0/16, but no address of this machine belongs to it; it"
                                + " has 172.17.0.1 (docker0), 10.1.2.3 (eth0), 127.0.0.1 (lo)");
        assertThatThrownBy(() -> AdvertisedAddress.choose(new Wish(null, 0, "10.2/99"), null, 20880, REMOTES, MACHINE))
                .hasMessageContaining("expected a network such as 10.1.0.0/16");
    }

    @Test
    void addressOfTheServerIsUsedUnlessItListensOnAll() {
        assertThat(AdvertisedAddress.choose(NO_WISH, address("172.17.0.1"), 1, REMOTES, MACHINE)
                        .host())
                .isEqualTo("172.17.0.1");
        assertThat(AdvertisedAddress.choose(NO_WISH, address("0.0.0.0"), 1, REMOTES, MACHINE)
                        .host())
                .isEqualTo("10.1.2.3");
    }

    @Test
    void loopbackIsRefusedForARegistryElsewhere() {
        for (String useless : List.of("127.0.0.1", "169.254.1.1", "fe80::1")) {
            assertThatThrownBy(() -> AdvertisedAddress.choose(
                            NO_WISH, null, 1, REMOTES, new FakeMachine(useless, Answer.THIS_PROCESS)))
                    .hasMessageContaining("rpc.server.advertise.host")
                    .hasMessageContaining("10.1.2.3 (eth0)");
        }
    }

    @Test
    void loopbackServesARegistryOnThisMachine() {
        assertThat(AdvertisedAddress.choose(
                                NO_WISH, null, 1, List.of(HERE), new FakeMachine("127.0.0.1", Answer.THIS_PROCESS))
                        .host())
                .isEqualTo("127.0.0.1");
        assertThat(AdvertisedAddress.choose(NO_WISH, null, 1, List.of(), MACHINE)
                        .host())
                .isEqualTo("127.0.0.1");
    }

    @Test
    void missingRouteNamesTheProperty() {
        assertThatThrownBy(() ->
                        AdvertisedAddress.choose(NO_WISH, null, 1, REMOTES, new FakeMachine("", Answer.THIS_PROCESS)))
                .hasMessageContaining("network unreachable")
                .hasMessageContaining("set rpc.server.advertise.host");
    }

    @Test
    void addressThatCannotBeReachedIsAWarning() {
        AdvertisedAddress chosen = new AdvertisedAddress("10.1.2.3", 20880, "rpc.server.advertise.host");

        assertThat(chosen.check(MACHINE, () -> 0)).isEmpty();
        assertThat(chosen.check(new FakeMachine("10.1.2.3", Answer.NONE), () -> 0))
                .contains("10.1.2.3:20880 (from rpc.server.advertise.host)", "rpc.server.advertise.network");
    }

    @Test
    void addressThatTheMachineHasLostIsNoLongerUsed() {
        AdvertisedAddress lost = new AdvertisedAddress("10.1.2.99", 1, "the route to 10.9.0.1");

        assertThat(lost.isStillUsable(NO_WISH, MACHINE)).isFalse();
        assertThat(lost.isStillUsable(new Wish("10.1.2.99", 0, null), MACHINE)).isTrue();
        assertThat(new AdvertisedAddress("10.1.2.3", 1, "the route to 10.9.0.1").isStillUsable(NO_WISH, MACHINE))
                .isTrue();
    }

    @Test
    void anotherProcessAtTheAddressIsAWarning() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            AdvertisedAddress chosen =
                    new AdvertisedAddress("127.0.0.1", other.getLocalPort(), "rpc.server.advertise.host");
            AtomicLong accepted = new AtomicLong();

            assertThat(chosen.check(new SystemMachine(), () -> 7))
                    .contains("another process accepts connections there", "Set rpc.server.advertise.port");
            assertThat(chosen.check(new SystemMachine(), accepted::getAndIncrement))
                    .isEmpty();
            assertThat(chosen.check(new SystemMachine(), () -> -1)).isEmpty();
        }
    }

    private static Machine withoutRouteTo(String host) {
        return new Machine() {
            @Override
            public InetAddress routeTo(InetSocketAddress remote) throws IOException {
                if (remote.getHostString().equals(host)) {
                    throw new IOException("its name cannot be resolved");
                }
                return remote.equals(HERE) ? address("127.0.0.1") : address("10.1.2.3");
            }

            @Override
            public List<CardAddress> addresses() {
                return new FakeMachine("10.1.2.3", Answer.THIS_PROCESS).addresses();
            }

            @Override
            public Answer connectTo(String connected, int port, LongSupplier accepted) {
                return Answer.THIS_PROCESS;
            }
        };
    }

    @Test
    void anotherServerOfTheRegistryGivesTheAddressIfTheFirstOneCannot() {
        InetSocketAddress dead = new InetSocketAddress(address("10.9.0.2"), 2181);

        assertThat(AdvertisedAddress.choose(NO_WISH, null, 1, List.of(dead, HERE, REMOTE), withoutRouteTo("10.9.0.2")))
                .isEqualTo(new AdvertisedAddress("10.1.2.3", 1, "the route to 10.9.0.1"));
        assertThatThrownBy(() -> AdvertisedAddress.choose(NO_WISH, null, 1, List.of(dead), withoutRouteTo("10.9.0.2")))
                .isInstanceOf(NoRouteException.class)
                .hasMessageContaining("10.9.0.2 (its name cannot be resolved)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"localhost", "LocalHost", "127.0.0.1", "::1", "169.254.1.1"})
    void configuredLoopbackIsRefusedForARegistryElsewhere(String host) {
        Wish wish = new Wish(host, 0, null);

        assertThatThrownBy(() -> AdvertisedAddress.choose(wish, null, 1, REMOTES, MACHINE))
                .hasMessageContaining("the address to publish is " + host + " (from rpc.server.advertise.host)")
                .hasMessageContaining("10.9.0.1 cannot reach");
        assertThat(AdvertisedAddress.choose(wish, null, 1, List.of(HERE), MACHINE)
                        .host())
                .isEqualTo(host);
        assertThat(AdvertisedAddress.choose(wish, null, 1, List.of(), MACHINE).host())
                .isEqualTo(host);
    }
}
