package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests how many connections a server accepts from a single address. */
class ConnectionShareTest {

    private static final int MAX = 8_192;

    /**
     * Lets each address in turn open as many connections as it may. Returns the number of connections that stay free.
     */
    private static int freeAfter(int addresses, int max) {
        int each = 0;
        int open = 0;
        while (ConnectionShare.hasFree(each + 1, open, max)) {
            each++;
            for (int i = 0; i < addresses && ConnectionShare.hasFree(each, open, max); i++) {
                open++;
            }
        }
        return max - open;
    }

    @Test
    void oneAddressGetsFourFifths() {
        assertThat(freeAfter(1, MAX)).isEqualTo(MAX / 5);
        assertThat(freeAfter(1, 768)).isEqualTo(153);
    }

    @Test
    void someConnectionsStayFreeForAddressesWithFew() {
        assertThat(freeAfter(8, MAX)).isEqualTo(255);
        assertThat(freeAfter(100, MAX)).isEqualTo(MAX / 32 - 1);
    }

    @Test
    void addressWithFewConnectionsGetsTheLastOne() {
        assertThat(ConnectionShare.hasFree(16, MAX - 1, MAX)).isTrue();
        assertThat(ConnectionShare.hasFree(17, MAX - 1, MAX)).isFalse();
        assertThat(ConnectionShare.hasFree(1, MAX, MAX)).isFalse();
    }

    @Test
    void oneAddressMayUseTheFewConnectionsOfSmallLimits() {
        assertThat(freeAfter(1, 16)).isZero();
        assertThat(freeAfter(1, 1)).isZero();
    }
}
