package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;

/** Tests which streams must not send because answers of other callers are unread. */
class UnsentBudgetTest {

    private static final int BUDGET = 8 << 20;
    private static final int STREAM = 1 << 20;
    private static final int MESSAGE = 10_000;

    private final UnsentBudget budget = new UnsentBudget(STREAM, BUDGET);

    private FairBudget.Part from(int host) {
        try {
            return budget.join(InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host}));
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
    }

    @Test
    void unreadUnaryAnswersOfOneAddressDoNotEndTheStreamsOfAnother() {
        FairBudget.Part flooding = from(1);
        budget.add(flooding, 2 * BUDGET);

        FairBudget.Part other = from(2);
        budget.add(other, BUDGET / 7);

        assertThat(budget.refusal(STREAM / 2, MESSAGE, STREAM / 2, other)).isNull();
        assertThat(budget.refusal(0, MESSAGE, STREAM, flooding))
                .contains("bytes wait for the callers of all streams (set by rpc.limits.max-unsent-answers)")
                .contains("16777216 of them for this address and 1048576 on this connection");
    }

    @Test
    void onlyConnectionOfAServerMayUseThreeQuarters() {
        FairBudget.Part only = from(1);
        budget.add(only, BUDGET * 3L / 4);

        assertThat(budget.refusal(0, MESSAGE, BUDGET * 3L / 4, only)).isNull();

        budget.add(only, 1);
        assertThat(budget.refusal(0, MESSAGE, BUDGET * 3L / 4 + 1, only)).isNotNull();
        assertThat(budget.refusal(0, MESSAGE, BUDGET / 16, only)).isNull();
    }

    @Test
    void networkWithFewUnreadBytesMaySendAlthoughSeveralOthersUseUpTheBudget() {
        for (int host = 1; host <= 4; host++) {
            budget.add(from(host), BUDGET);
        }
        FairBudget.Part other = from(9);
        budget.add(other, BUDGET / 8);

        assertThat(budget.refusal(0, MESSAGE, BUDGET / 8, other)).isNull();
        assertThat(budget.isShortFor(other)).isFalse();

        budget.add(other, 1);
        assertThat(budget.refusal(0, MESSAGE, BUDGET / 8, other)).isNotNull();
    }

    @Test
    void networkWithManyUnreadBytesGetsNoMoreAnswersAboveTheSecondLimit() {
        FairBudget.Part flooding = from(1);
        budget.add(flooding, budget.manyBytes() + 1);

        assertThat(budget.isShortFor(flooding)).isTrue();
        assertThat(budget.isShortFor(from(2))).isFalse();
    }
}
