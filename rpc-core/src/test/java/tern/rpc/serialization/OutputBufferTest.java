package tern.rpc.serialization;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class OutputBufferTest {

    private static final int LARGE_BYTES = (1 << 20) + 1;
    private static final int LIMIT_BYTES = 8 << 20;

    private final int free = LargeMessages.free();
    private final OutputBuffer out = new OutputBuffer();

    @AfterEach
    void noTurnIsLost() {
        out.release();
        assertThat(LargeMessages.free()).isEqualTo(free);
    }

    @Test
    void largeArrayTakesOneTurnUntilItIsReleased() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();

        out.claim(LARGE_BYTES);
        out.claim(LARGE_BYTES);

        assertThat(LargeMessages.free()).isEqualTo(free - 1);
        out.release();
        assertThat(LargeMessages.free()).isEqualTo(free);
        assertThat(out.array()).hasSizeLessThan(LARGE_BYTES);
    }

    @Test
    void smallArrayTakesNoTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();

        out.claim(LargeMessages.LARGE_BYTES / 2);

        assertThat(LargeMessages.free()).isEqualTo(free);
    }

    @Test
    void bufferThatWasNotAskedToTakesNoTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);

        out.claim(LARGE_BYTES);

        assertThat(LargeMessages.free()).isEqualTo(free);
    }

    @Test
    void messageThatPassesTheLimitKeepsItsTurnUntilRelease() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();
        out.claim(LARGE_BYTES);

        assertThatExceptionOfType(MessageTooLargeException.class).isThrownBy(() -> out.claim(LIMIT_BYTES));

        assertThat(LargeMessages.free()).isEqualTo(free - 1);
    }

    @Test
    void nextMessageEndsTheTurn() {
        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);
        out.takeTurns();
        out.claim(LARGE_BYTES);

        out.reset(LIMIT_BYTES, 0, MessageKind.RESPONSE);

        assertThat(LargeMessages.free()).isEqualTo(free);
    }
}
