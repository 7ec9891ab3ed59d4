package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.serialization.LargeMessages.Work;

class OutputBufferTest {

    private static final int LARGE_BYTES = (1 << 20) + 1;
    private static final int LIMIT_BYTES = 8 << 20;

    private final int free = Work.WRITE.free();
    private final OutputBuffer out = new OutputBuffer();

    @AfterEach
    void noTurnIsLost() {
        out.release();
        assertThat(Work.WRITE.free()).isEqualTo(free);
    }

    @Test
    void largeArrayTakesOneTurnUntilItIsReleased() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();

        out.claim(LARGE_BYTES);
        out.claim(LARGE_BYTES);

        assertThat(Work.WRITE.free()).isEqualTo(free - 1);
        out.release();
        assertThat(Work.WRITE.free()).isEqualTo(free);
        assertThat(out.array()).hasSizeLessThan(LARGE_BYTES);
    }

    @Test
    void smallArrayTakesNoTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();

        out.claim(LargeMessages.LARGE_BYTES / 2);

        assertThat(Work.WRITE.free()).isEqualTo(free);
    }

    @Test
    void bufferThatWasNotAskedToTakesNoTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);

        out.claim(LARGE_BYTES);

        assertThat(Work.WRITE.free()).isEqualTo(free);
    }

    @Test
    void messageThatPassesTheLimitKeepsItsTurnUntilRelease() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();
        out.claim(LARGE_BYTES);

        assertThatExceptionOfType(MessageTooLargeException.class).isThrownBy(() -> out.claim(LIMIT_BYTES));

        assertThat(Work.WRITE.free()).isEqualTo(free - 1);
    }

    @Test
    void turnCanEndBeforeTheContentIsReleased() {
        int unpacking = Work.UNPACK.free();
        out.reset(LIMIT_BYTES, 0, MessageKind.REQUEST);
        out.takeTurnsToUnpack();
        out.claim(LARGE_BYTES);
        assertThat(Work.UNPACK.free()).isEqualTo(unpacking - 1);
        assertThat(Work.WRITE.free()).isEqualTo(free);

        out.endTurn();

        assertThat(Work.UNPACK.free()).isEqualTo(unpacking);
        assertThat(out.position()).isEqualTo(LARGE_BYTES);
    }

    @Test
    void nextMessageEndsTheTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();
        out.claim(LARGE_BYTES);

        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);

        assertThat(Work.WRITE.free()).isEqualTo(free);
    }
}
