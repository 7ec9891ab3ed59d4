package tern.rpc.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FairSharesTest {

    private static final int ALL = 200;

    private final FairShares shares = new FairShares(() -> 0);
    private final Share quick = new Share("many quick calls");
    private final Share slow = new Share("few slow calls");

    private void hold(Share share, int calls) {
        for (int i = 0; i < calls; i++) {
            share.entered();
        }
    }

    /** Simulates one measurement window of 100 calls. Four out of five calls belong to the tenant {@code quick}. */
    private void window() {
        for (int i = 0; i < 100; i++) {
            shares.vote(i % 5 == 0 ? slow : quick);
        }
        shares.windowEnds();
        // The call to yields() records that the tenant {@code slow} sends calls too.
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
        quick.left();
        quick.left();
        hold(slow, 2);

        assertThat(shares.yields(slow, 2, ALL)).isFalse();
        quick.left();
        assertThat(shares.yields(slow, 3, ALL)).isFalse();
    }

    @Test
    void tenantThatFloodsAfterAnotherHasLeftDoesNotYieldToItself() {
        hold(quick, ALL);
        window();
        for (int i = 0; i < ALL; i++) {
            quick.left();
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
    void tenantThatHoldsTheMostYieldsOnceAnotherWantsIn() {
        hold(quick, ALL / 2);
        shares.yields(quick, 0, ALL);
        hold(slow, 1);

        assertThat(shares.yields(quick, 1, ALL)).isFalse();
        assertThat(shares.yields(slow, 2, ALL)).isFalse();
        assertThat(shares.yields(quick, 3, ALL)).isTrue();
    }
}
