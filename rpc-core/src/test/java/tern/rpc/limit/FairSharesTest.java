package tern.rpc.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FairSharesTest {

    private static final int ALL = 200;

    private final FairShares shares = new FairShares(188, () -> 0);
    private final Share quick = new Share("many quick calls");
    private final Share slow = new Share("few slow calls");

    private void hold(Share share, int calls) {
        for (int i = 0; i < calls; i++) {
            shares.entered(share);
        }
    }

    /** Simulates one measurement window of 100 calls. Four out of five calls belong to the tenant {@code quick}. */
    private void window() {
        for (int i = 0; i < 100; i++) {
            shares.vote(i % 5 == 0 ? slow : quick);
        }
        shares.windowEnds();
        // The call to yields() records that the tenant {@code slow} also sends calls.
        shares.yields(slow, 0, ALL);
    }

    @Test
    void tenantThatSendsTheMostAndHoldsMuchYields() {
        hold(quick, ALL / 2);
        hold(slow, ALL / 2);

        window();

        assertThat(shares.yields(quick, 1, ALL)).isTrue();
        assertThat(shares.isBehind(quick, ALL)).isFalse();
    }

    @Test
    void tenantThatSendsTheMostButHoldsLittleDoesNotYield() {
        hold(quick, ALL / 16 - 1);
        hold(slow, ALL - ALL / 16 + 1);

        window();

        assertThat(shares.yields(quick, 1, ALL)).isFalse();
        assertThat(shares.isBehind(quick, ALL)).isTrue();
    }

    /** The tenant that has stopped sending calls still has running calls, because their methods have not returned. */
    @Test
    void tenantThatComesAfterAnotherHasLeftDoesNotYieldToItself() {
        hold(quick, 3);
        shares.yields(quick, 0, ALL);
        shares.yields(slow, 1, ALL);
        shares.left(quick);
        shares.left(quick);
        hold(slow, 2);

        assertThat(shares.yields(slow, 2, ALL)).isFalse();
        shares.left(quick);
        assertThat(shares.yields(slow, 3, ALL)).isFalse();
    }

    @Test
    void singleConnectionDoesNotYieldToAConnectionThatWasClosed() {
        Share address = new Share("an address");
        Share open = new Share("an open connection", address);
        Share closed = new Share("a closed connection", address);
        address.connectionOpens();
        address.connectionOpens();
        hold(open, ALL / 2);
        shares.yields(open, 0, ALL);
        hold(closed, 1);
        shares.yields(closed, 1, ALL);
        assertThat(shares.yields(open, 2, ALL)).isTrue();

        address.connectionCloses();

        assertThat(shares.yields(open, 3, ALL)).isFalse();
    }

    @Test
    void tenantThatFloodsAfterAnotherHasLeftDoesNotYieldToItself() {
        hold(quick, ALL);
        window();
        for (int i = 0; i < ALL; i++) {
            shares.left(quick);
        }
        hold(slow, ALL);
        shares.yields(slow, 1, ALL);
        for (int i = 0; i < 100; i++) {
            shares.vote(slow);
        }
        shares.windowEnds();

        assertThat(shares.yields(slow, 2, ALL)).isFalse();
    }

    @Test
    void tenantThatHoldsTheMostYieldsOnceAnotherTenantHasCalls() {
        hold(quick, ALL / 2);
        shares.yields(quick, 0, ALL);
        hold(slow, 1);

        assertThat(shares.yields(quick, 1, ALL)).isFalse();
        assertThat(shares.yields(slow, 2, ALL)).isFalse();
        assertThat(shares.yields(quick, 3, ALL)).isTrue();
    }

    /**
     * Reproduces an attack in which one address held 200 threads with slow calls, and a second address sent fast calls.
     */
    @Test
    void tenantThatSendsTheMostButIsCrowdedOutDoesNotFlood() {
        hold(quick, 25);
        hold(slow, 200);

        window();

        assertThat(shares.isAnybodyFlooding()).isFalse();
        assertThat(shares.yields(quick, 1, 225)).isFalse();
        assertThat(shares.isBehind(quick, 225)).isTrue();
        assertThat(shares.yields(slow, 2, 225)).isTrue();
    }

    @Test
    void tenantThatFloodedDoesNotYieldOnceAnotherCrowdsItOut() {
        hold(quick, 100);
        window();
        hold(slow, 120);

        assertThat(shares.isFlooding(quick)).isTrue();
        assertThat(shares.yields(quick, 1, 220)).isTrue();

        for (int i = 0; i < 10; i++) {
            shares.left(quick);
        }
        assertThat(shares.yields(quick, 2, 210)).isFalse();
        assertThat(shares.yields(slow, 3, 210)).isTrue();
    }

    @Test
    void tenantWithLessThanAnEqualPartDoesNotYield() {
        hold(slow, 150);
        hold(quick, 38);
        hold(new Share("one call"), 1);

        assertThat(shares.yields(quick, 1, 189)).isFalse();
        assertThat(shares.yields(slow, 2, 189)).isTrue();
    }

    @Test
    void tenantThatHoldsTheMostIsKnownEvenIfItsCallsFoundFreePermits() {
        hold(slow, 190);
        hold(quick, 10);
        shares.yields(new Share("a third tenant"), 0, ALL);

        assertThat(shares.yields(quick, 1, ALL)).isFalse();
        assertThat(shares.yields(slow, 2, ALL)).isTrue();
    }

    @Test
    void tenantsAreCountedWhileTheyHoldCalls() {
        Share address = new Share("address");
        Share one = new Share("connection 1", address);
        Share two = new Share("connection 2", address);
        hold(one, 2);
        hold(two, 1);

        assertThat(shares.tenants(one)).isEqualTo(2);
        assertThat(shares.tenants(address)).isEqualTo(1);
        assertThat(address.held()).isEqualTo(3);

        shares.left(two);
        shares.left(one);
        assertThat(shares.tenants(two)).isEqualTo(1);
        shares.left(one);
        assertThat(shares.tenants(address)).isZero();
    }
}
