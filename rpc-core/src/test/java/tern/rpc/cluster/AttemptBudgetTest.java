package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AttemptBudgetTest {

    private final AtomicLong now = new AtomicLong();

    private static int spendAll(AttemptBudget budget) {
        int spent = 0;
        while (budget.spend()) {
            spent++;
        }
        return spent;
    }

    @Test
    void retriesAreATenthOfTheCalls() {
        AttemptBudget budget = AttemptBudget.forRetries(now::get);
        for (int i = 0; i < 1_000; i++) {
            budget.called();
        }

        assertThat(spendAll(budget)).isEqualTo(100);
        now.addAndGet(Duration.ofSeconds(11).toNanos());
        assertThat(spendAll(budget)).as("three a second of the next window").isEqualTo(30);
    }

    @Test
    void retriesOfFewCallsAreThreeASecond() {
        AttemptBudget budget = AttemptBudget.forRetries(now::get);
        budget.called();

        assertThat(spendAll(budget)).isEqualTo(30);
    }

    @Test
    void hedgesAreAtMostATwentiethOfTheCalls() {
        AttemptBudget budget = AttemptBudget.forHedges(now::get);
        for (int i = 0; i < 39; i++) {
            budget.called();
        }

        assertThat(spendAll(budget)).isEqualTo(1);
    }

    @Test
    void budgetIsShortWhenMoreThanHalfOfItIsSpent() {
        AttemptBudget budget = AttemptBudget.forRetries(now::get);
        for (int i = 0; i < 15; i++) {
            budget.spend();
        }

        assertThat(budget.isShort()).isFalse();
        budget.spend();
        assertThat(budget.isShort()).isTrue();
    }

    @Test
    void attemptThatWasNotMadeIsReturned() {
        AttemptBudget budget = AttemptBudget.forRetries(now::get);
        int all = spendAll(budget);

        budget.giveBack();

        assertThat(all).isEqualTo(30);
        assertThat(spendAll(budget)).isEqualTo(1);
    }
}
