package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutputBufferTest {

    private static final int LARGE_BYTES = (1 << 20) + 1;
    private static final int LIMIT_BYTES = 8 << 20;

    private final int free = LargeWork.WRITE.free();
    private final OutputBuffer out = new OutputBuffer();

    @AfterEach
    void noTurnIsLost() {
        out.release();
        assertThat(LargeWork.WRITE.free()).isEqualTo(free);
    }

    @Test
    void largeArrayTakesOneTurnUntilItIsReleased() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns("a");

        out.claim(LARGE_BYTES);
        out.claim(LARGE_BYTES);

        assertThat(LargeWork.WRITE.free()).isEqualTo(free - 1);
        out.release();
        assertThat(LargeWork.WRITE.free()).isEqualTo(free);
        assertThat(out.array()).hasSizeLessThan(LARGE_BYTES);
    }

    @Test
    void smallArrayTakesNoTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns("a");

        out.claim(LargeWork.LARGE_BYTES / 2);

        assertThat(LargeWork.WRITE.free()).isEqualTo(free);
    }

    @Test
    void bufferWithoutALimitOnLargeMessagesTakesNoTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);

        out.claim(LARGE_BYTES);

        assertThat(LargeWork.WRITE.free()).isEqualTo(free);
    }

    @Test
    void messageThatPassesTheLimitKeepsItsTurnUntilRelease() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns("a");
        out.claim(LARGE_BYTES);

        assertThatExceptionOfType(MessageTooLargeException.class).isThrownBy(() -> out.claim(LIMIT_BYTES));

        assertThat(LargeWork.WRITE.free()).isEqualTo(free - 1);
    }

    @Test
    void turnCanEndBeforeTheContentIsReleased() {
        int unpacking = LargeWork.UNPACK.free();
        out.reset(LIMIT_BYTES, 0, MessageKind.REQUEST);
        out.takeTurnsToUnpack("a");
        out.claim(LARGE_BYTES);
        assertThat(LargeWork.UNPACK.free()).isEqualTo(unpacking - 1);
        assertThat(LargeWork.WRITE.free()).isEqualTo(free);

        out.endTurn();

        assertThat(LargeWork.UNPACK.free()).isEqualTo(unpacking);
        assertThat(out.position()).isEqualTo(LARGE_BYTES);
    }

    @Test
    void nextMessageEndsTheTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns("a");
        out.claim(LARGE_BYTES);

        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);

        assertThat(LargeWork.WRITE.free()).isEqualTo(free);
    }
}
