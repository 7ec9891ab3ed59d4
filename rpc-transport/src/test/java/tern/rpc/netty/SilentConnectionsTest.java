package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests which silent connections are chosen to be closed when the connection limit is reached. */
class SilentConnectionsTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** @param quietSeconds the time since the last answer */
    private record Known(String name, InetAddress network, boolean isInUse, boolean hasMadeCalls, long quietSeconds)
            implements SilentConnections.Open {
        @Override
        public long quietSinceNanos() {
            return -quietSeconds * SECOND;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    private final List<Known> open = new ArrayList<>();

    private static InetAddress host(int host) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host});
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private void unused(int host, int seconds) {
        open.add(new Known("unused " + seconds, host(host), false, false, seconds));
    }

    private void used(int host, int seconds) {
        open.add(new Known("used " + seconds, host(host), false, true, seconds));
    }

    private List<String> chosen(int newcomer, boolean own, int most) {
        return SilentConnections.choose(open, host(newcomer), own, most, 0).stream()
                .map(Known::toString)
                .toList();
    }

    @Test
    void oldestUnusedConnectionsAreClosedFirst() {
        used(1, 500);
        unused(1, 20);
        unused(1, 30);
        used(1, 70);

        assertThat(chosen(2, false, 4)).containsExactly("unused 30", "unused 20", "used 500", "used 70");
    }

    @Test
    void connectionsThatWereUsedAMinuteAgoOrRunACallStay() {
        used(1, 59);
        unused(1, 9);
        open.add(new Known("busy", host(1), true, true, 500));

        assertThat(chosen(2, false, 4)).isEmpty();
    }

    @Test
    void addressWithTheMostConnectionsLosesFirst() {
        unused(1, 500);
        unused(2, 20);
        unused(2, 30);
        unused(2, 40);

        assertThat(chosen(3, false, 2)).containsExactly("unused 40", "unused 30");
    }

    @Test
    void addressLosesNothingToOneThatHasMore() {
        unused(1, 500);
        for (int i = 0; i < 3; i++) {
            used(2, 5);
        }

        assertThat(chosen(2, false, 1)).isEmpty();
        assertThat(chosen(3, false, 1)).containsExactly("unused 500");
    }

    @Test
    void addressWithManyMoreConnectionsLosesUnusedOnesSooner() {
        for (int i = 0; i < 20; i++) {
            unused(1, 2);
        }

        assertThat(chosen(2, false, 1)).containsExactly("unused 2");
        assertThat(chosen(1, false, 1)).isEmpty();
    }

    @Test
    void addressWithManyMoreConnectionsLosesUsedOnesAfterTenSeconds() {
        for (int i = 0; i < 20; i++) {
            used(1, 9 + i % 2);
        }

        assertThat(chosen(2, false, 1)).containsExactly("used 10");
        assertThat(chosen(2, false, 20)).hasSize(10).containsOnly("used 10");
        assertThat(chosen(1, false, 1)).isEmpty();
    }

    @Test
    void addressAtItsLimitLosesOneOfItsConnections() {
        unused(1, 20);
        for (int i = 0; i < 5; i++) {
            unused(2, 500);
        }

        assertThat(chosen(1, true, 4)).containsExactly("unused 20");
    }

    /**
     * The state of a connection can change during a sort. If the sort read the changing state, it could throw an
     * exception.
     */
    @Test
    void connectionsMayChangeWhileTheyAreChosen() {
        Random random = new Random(1);
        List<SilentConnections.Open> changing = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            changing.add(new SilentConnections.Open() {
                @Override
                public InetAddress network() {
                    return host(1);
                }

                @Override
                public boolean isInUse() {
                    return false;
                }

                @Override
                public boolean hasMadeCalls() {
                    return random.nextBoolean();
                }

                @Override
                public long quietSinceNanos() {
                    return -(100 + random.nextInt(100)) * SECOND;
                }
            });
        }

        assertThat(SilentConnections.choose(changing, host(2), false, 100, 0)).hasSize(100);
    }
}
