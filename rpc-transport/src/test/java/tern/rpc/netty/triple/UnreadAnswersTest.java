package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UnreadAnswersTest {

    private static final int MEBIBYTE = 1 << 20;
    private static final long LATE = UnreadAnswers.STALL_NANOS;

    private final UnreadAnswers unread = new UnreadAnswers();

    private void add(int mebibytes, long now) {
        for (int i = 0; i < mebibytes; i++) {
            unread.add(MEBIBYTE, now);
        }
    }

    @Test
    void slowReaderOfStreamsMayTakeAsLongAsItWants() {
        add(8, 0);

        assertThat(unread.mayStall()).isFalse();
        assertThat(unread.areStalled(100 * LATE)).isFalse();
    }

    @Test
    void manyBytesThatDoNotMoveAreAStall() {
        add(9, 0);

        assertThat(unread.areStalled(LATE - 1)).isFalse();
        assertThat(unread.areStalled(LATE)).isTrue();
    }

    @Test
    void progressOfAnyKindPreventsAStall() {
        add(12, 0);
        unread.left(MEBIBYTE, LATE - 1);
        assertThat(unread.areStalled(LATE)).isFalse();
        unread.windowOpened(2 * LATE - 2);
        assertThat(unread.areStalled(2 * LATE)).isFalse();

        assertThat(unread.areStalled(3 * LATE - 2)).isTrue();
    }

    @Test
    void timeBeginsWithTheFirstByteThatWaits() {
        add(9, 0);
        for (int i = 0; i < 9; i++) {
            unread.left(MEBIBYTE, 1);
        }
        add(9, 10 * LATE);

        assertThat(unread.areStalled(10 * LATE + 1)).isFalse();
    }

    @Test
    void newCallsAreRefusedWhenTooMuchWaits() {
        add(64, 0);
        assertThat(unread.areTooMany()).isFalse();

        unread.add(1, 0);

        assertThat(unread.areTooMany()).isTrue();
    }
}
