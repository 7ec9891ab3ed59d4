package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InboundBudgetShareTest {

    private static final long MAX_BYTES = 16 << 20;

    private final InboundBudget budget = InboundBudget.forAll(MAX_BYTES);

    @Test
    void lastQuarterIsReservedForConnectionsWithSmallParts() {
        budget.add(MAX_BYTES * 3 / 4);
        assertThat(budget.isUsedUp(8 << 20)).isFalse();

        budget.add(1);

        assertThat(budget.isUsedUp(8 << 20)).isTrue();
        assertThat(budget.isUsedUp(1 << 20)).isFalse();
    }

    @Test
    void nobodyMayExceedTheBudget() {
        budget.add(MAX_BYTES + 1);

        assertThat(budget.isUsedUp(1)).isTrue();
    }
}
