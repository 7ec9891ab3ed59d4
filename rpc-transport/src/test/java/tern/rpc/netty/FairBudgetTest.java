package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

class FairBudgetTest {

    private static final int MAX_BYTES = 840;

    private final FairBudget budget = new FairBudget(MAX_BYTES);

    private FairBudget.Part from(int host) {
        try {
            return budget.join(InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host}));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    /**
     * Adds single bytes for a new connection until the budget refuses one. Returns the number of bytes that were added.
     */
    private static int fill(FairBudget.Part part) {
        int held = 0;
        while (part.hasRoom(held)) {
            part.add(1);
            held++;
        }
        return held;
    }

    @Test
    void oneConnectionGetsAThirdAndOneNetworkAtMostHalf() {
        FairBudget.Part network = from(1);
        assertThat(fill(network)).isEqualTo(MAX_BYTES / 3);

        for (int connection = 0; connection < 1_000; connection++) {
            fill(network);
        }

        assertThat(network.bytes()).isEqualTo(MAX_BYTES / 2);
    }

    @Test
    void networkGetsItsPartHoweverManyConnectionsAnotherNetworkUses() {
        FairBudget.Part large = from(1);
        for (int connection = 0; connection < 1_000; connection++) {
            fill(large);
        }

        FairBudget.Part small = from(2);

        assertThat(fill(small)).isEqualTo(MAX_BYTES / 6);
        assertThat(large.hasRoom(0)).isFalse();
    }

    @Test
    void eachOfManyNetworksLeavesAsMuchAsItTakes() {
        for (int network = 1; network <= 6; network++) {
            FairBudget.Part part = from(network);
            for (int connection = 0; connection < 1_000; connection++) {
                fill(part);
            }
        }

        assertThat(from(7).hasRoom(0)).isTrue();
        assertThat(from(1).bytes()).isGreaterThanOrEqualTo(from(6).bytes());
        assertThat(MAX_BYTES - budget.used()).isPositive();
    }

    @Test
    void connectionWithFewBytesHasRoomNextToALargeConnectionOfItsNetwork() {
        FairBudget.Part proxy = from(1);
        int large = fill(proxy);

        assertThat(proxy.hasRoom(large)).isFalse();
        assertThat(proxy.hasRoom(large - 10)).isTrue();
        assertThat(fill(proxy)).isGreaterThan(MAX_BYTES / 20);
    }

    @Test
    void bytesBeyondHalfOfTheBudgetReduceTheRoomOfTheirOwnNetworkOnly() {
        FairBudget.Part excessive = from(1);
        excessive.add(10 * MAX_BYTES);

        assertThat(budget.used()).isEqualTo(10 * MAX_BYTES);
        assertThat(fill(from(2))).isEqualTo(MAX_BYTES / 6);
        assertThat(excessive.hasRoom(0)).isFalse();

        excessive.add(-10 * MAX_BYTES);
        from(2).add(-MAX_BYTES / 6);
        assertThat(budget.used()).isZero();
        assertThat(fill(excessive)).isEqualTo(MAX_BYTES / 3);
    }

    @Test
    void networkThatReconnectsKeepsItsBytesUntilTheyAreReleased() {
        FairBudget.Part before = from(1);
        before.add(100);
        before.leave();

        FairBudget.Part again = from(1);
        assertThat(again.bytes()).isEqualTo(100);
        again.leave();
        assertThat(budget.networks()).isEqualTo(1);

        before.add(-100);
        assertThat(budget.networks()).isZero();
    }

    @Test
    void networkWithConnectionsIsRememberedWithoutBytes() {
        FairBudget.Part part = from(1);
        from(1);
        part.add(100);
        part.add(-100);
        part.leave();
        assertThat(budget.networks()).isEqualTo(1);

        part.leave();

        assertThat(budget.networks()).isZero();
    }

    @Test
    void refusalNamesTheNumbers() {
        FairBudget.Part part = from(1);
        part.add(300);

        assertThat(part.full("bytes wait (set by a property)", 200))
                .isEqualTo("300 of 840 bytes wait (set by a property), 300 of them for this address and 200 on this"
                        + " connection");
    }

    @Test
    void onlyNetworksWithBytesAreHolders() {
        FairBudget.Part first = from(1);
        FairBudget.Part second = from(2);
        assertThat(budget.holders()).isZero();

        first.add(10);
        first.add(10);
        second.add(10);
        assertThat(budget.holders()).isEqualTo(2);

        first.add(-15);
        second.add(-10);
        assertThat(budget.holders()).isEqualTo(1);
    }
}
