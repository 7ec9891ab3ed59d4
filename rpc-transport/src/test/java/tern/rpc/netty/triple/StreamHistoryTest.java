package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class StreamHistoryTest {

    private enum Fate {
        OPENED,
        RESET,
        RESET_BY_US,
        NEVER_OPENED
    }

    private final StreamHistory history = new StreamHistory();

    @Test
    void nothingIsKnownOfStreamsThatAreStillToCome() {
        assertThat(history.endedInOrder(1)).isFalse();

        history.opened(1);
        history.reset(3);

        assertThat(history.endedInOrder(1)).isTrue();
        assertThat(history.endedInOrder(3) || history.wasNeverOpened(3) || history.wasResetByUs(3))
                .isFalse();
    }

    @Test
    void streamsBelowTheFirstOneWereNeverOpened() {
        history.opened(7);

        assertThat(history.wasNeverOpened(5)).isTrue();
        assertThat(history.wasNeverOpened(1)).isTrue();
        history.reset(5); // the client sends RST_STREAM on a stream id that it skipped
        assertThat(history.wasNeverOpened(5)).isTrue();
    }

    @Test
    void jumpOverAllThatIsRememberedLeavesStreamsThatWereNeverOpened() {
        history.opened(1);
        history.opened(3);
        history.reset(3);

        int far = 1 + 2 * 100_000;
        history.opened(far);
        history.opened(Integer.MAX_VALUE);

        // the stream is so old that the history no longer contains its state
        assertThat(history.wasNeverOpened(far)).isFalse();
        assertThat(history.wasNeverOpened(Integer.MAX_VALUE - 2)).isTrue();
        assertThat(history.wasNeverOpened(Integer.MAX_VALUE - 2 * (StreamHistory.STREAMS - 1)))
                .isTrue();
        assertThat(history.endedInOrder(Integer.MAX_VALUE)).isTrue();
    }

    /** Compares the history with a map that contains the end state of every stream. */
    @Test
    void lastStreamsAreRememberedWithAnyResult() {
        Random random = new Random(5);
        for (int run = 0; run < 30; run++) {
            StreamHistory tried = new StreamHistory();
            Map<Integer, Fate> fates = new HashMap<>();
            int newest = -1 - 2 * random.nextInt(2);
            for (int i = 0; i < 12_000; i++) {
                int skipped = random.nextInt(50) == 0 ? random.nextInt(run % 3 == 0 ? 5_000 : 5) : 0;
                for (int passed = 0; passed < skipped; passed++) {
                    newest += 2;
                    fates.put(newest, Fate.NEVER_OPENED);
                }
                newest += 2;
                if (newest < 0) {
                    continue;
                }
                tried.opened(newest);
                fates.put(newest, Fate.OPENED);
                int other = newest - 2 * random.nextInt(run % 2 == 0 ? 20 : 5_000);
                int dice = random.nextInt(run % 5 == 0 ? 2 : 200);
                if (fates.getOrDefault(other, Fate.NEVER_OPENED) == Fate.OPENED && dice == 0) {
                    tried.reset(other);
                    fates.put(other, Fate.RESET);
                } else if (fates.getOrDefault(other, Fate.NEVER_OPENED) == Fate.OPENED && dice == 1) {
                    tried.resetByUs(other);
                    fates.put(other, Fate.RESET_BY_US);
                }
                if (i % 1_000 == 0) {
                    assertSame(tried, fates, newest);
                }
            }
            assertSame(tried, fates, newest);
        }
    }

    private static void assertSame(StreamHistory history, Map<Integer, Fate> fates, int newest) {
        for (int back = 0; back < StreamHistory.STREAMS && newest - 2 * back > 0; back++) {
            int id = newest - 2 * back;
            Fate fate = fates.getOrDefault(id, Fate.NEVER_OPENED);
            assertThat(history.endedInOrder(id)).isEqualTo(fate == Fate.OPENED);
            assertThat(history.wasResetByUs(id)).isEqualTo(fate == Fate.RESET_BY_US);
            assertThat(history.wasNeverOpened(id)).isEqualTo(fate == Fate.NEVER_OPENED);
        }
    }
}
