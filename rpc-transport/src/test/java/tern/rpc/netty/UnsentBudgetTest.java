package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests when the budget prevents a stream from sending messages because other callers leave their answers unread. */
class UnsentBudgetTest {

    private static final int BUDGET = 8 << 20;
    private static final int STREAM = 1 << 20;
    private static final int MESSAGE = 10_000;

    private final UnsentBudget budget = new UnsentBudget(STREAM, BUDGET);

    private FairBudget.Part from(int host) {
        return from(host, budget);
    }

    private static FairBudget.Part from(int host, UnsentBudget budget) {
        return budget.join(address(host));
    }

    private static InetAddress address(int host) {
        try {
            return InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host});
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

        assertThat(budget.refusal(STREAM / 2, MESSAGE, false, STREAM / 2, other))
                .isNull();
        assertThat(budget.refusal(0, MESSAGE, false, STREAM, flooding))
                .contains("bytes wait for the callers of all streams (set by rpc.limits.max-unsent-answers,")
                .contains("16777216 of them for this address and 1048576 on this connection");
    }

    @Test
    void singleConnectionOfAServerMayUseThreeQuarters() {
        FairBudget.Part only = from(1);
        budget.add(only, BUDGET * 3L / 4);

        assertThat(budget.refusal(0, MESSAGE, false, BUDGET * 3L / 4, only)).isNull();

        budget.add(only, 1);
        assertThat(budget.refusal(0, MESSAGE, false, BUDGET * 3L / 4 + 1, only)).isNotNull();
        assertThat(budget.refusal(0, MESSAGE, false, BUDGET / 16, only)).isNull();
    }

    @Test
    void networkWithFewUnreadBytesMaySendAlthoughSeveralOthersUseUpTheBudget() {
        for (int host = 1; host <= 4; host++) {
            budget.add(from(host), BUDGET);
        }
        FairBudget.Part other = from(9);
        int halfOfItsPart = BUDGET / 5 / 2;
        budget.add(other, halfOfItsPart - MESSAGE);

        assertThat(budget.refusal(0, MESSAGE, false, BUDGET / 8, other)).isNull();
        assertThat(budget.isShortFor(other)).isFalse();

        budget.add(other, 1);
        assertThat(budget.refusal(0, MESSAGE, false, BUDGET / 8, other)).isNotNull();
    }

    @Test
    void manyNetworksThatSendLittleTogetherKeepTheBudget() {
        List<FairBudget.Part> networks =
                IntStream.range(0, 200).mapToObj(this::from).toList();
        for (int round = 0; round < 100; round++) {
            for (FairBudget.Part each : networks) {
                if (budget.refusal(0, MESSAGE, true, each.bytes(), each) == null) {
                    budget.add(each, MESSAGE);
                }
            }
        }

        assertThat(budget.used()).isLessThan(BUDGET * 3L / 2);
    }

    @Test
    void unreadAnswersTakeAnEighthOfASmallHeap() {
        UnsentBudget small = new UnsentBudget(STREAM, 64 << 20, 64 << 20);

        assertThat(small.mostBytes()).isEqualTo(16 << 20);
        assertThat(small.manyBytes()).isEqualTo(8 << 20);
        FairBudget.Part large = from(1, small);
        small.add(from(2, small), 1);
        small.add(large, (6 << 20) - 1);
        assertThat(small.refusal(0, MESSAGE, false, 6 << 20, large)).isNull();
        small.add(large, 1);
        assertThat(small.refusal(0, MESSAGE, false, (6 << 20) + 1, large)).contains(" of 8388608 bytes wait");
    }

    @Test
    void singleAddressWithUnreadAnswersMayUseAQuarterOfASmallHeap() {
        UnsentBudget small = new UnsentBudget(STREAM, 64 << 20, 256 << 20);
        FairBudget.Part only = from(1, small);
        small.add(only, 48 << 20);
        assertThat(small.refusal(0, STREAM, true, 48 << 20, only)).isNull();

        small.add(only, 1);

        assertThat(small.refusal(0, STREAM, true, (48 << 20) + 1, only)).isNotNull();
    }

    @Test
    void refusalNamesTheLimitThatIsExceeded() {
        FairBudget.Part flooding = from(1);
        UnreadBytes connection = new UnreadBytes(budget, address(1));
        connection.add(UnreadBytes.MANY + 1);
        budget.add(flooding, budget.manyBytes());
        assertThat(connection.refusal()).contains("; above " + budget.manyBytes() + " slow readers get no more");

        budget.add(flooding, budget.mostBytes());

        assertThat(connection.refusal())
                .contains("; above " + budget.mostBytes() + " only addresses with few bytes get more");
    }

    @Test
    void networkWithManyUnreadBytesGetsNoAnswersAboveTheThirdLimit() {
        FairBudget.Part flooding = from(1);
        budget.add(flooding, budget.mostBytes());
        assertThat(budget.isFullFor(flooding)).isFalse();

        budget.add(flooding, 1);

        assertThat(budget.isFullFor(flooding)).isTrue();
        assertThat(budget.isFullFor(from(2))).isFalse();
    }

    @Test
    void networkWithManyUnreadBytesGetsNoMoreAnswersAboveTheSecondLimit() {
        FairBudget.Part flooding = from(1);
        budget.add(flooding, budget.manyBytes() + 1);

        assertThat(budget.isShortFor(flooding)).isTrue();
        assertThat(budget.isShortFor(from(2))).isFalse();
    }
}
