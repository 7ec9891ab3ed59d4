package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.junit.jupiter.api.Test;

/**
 * Tests that the leak check fails for a leaked buffer. Without this test, a defect of the check itself would not be
 * noticed.
 */
class LeakCheckTest {

    @Test
    void lostBufferIsFound() {
        lose();

        assertThat(LeakCheck.found()).singleElement().asString().contains("LeakCheckTest.lose");
    }

    @Test
    void releasedBufferIsNotFound() {
        ByteBufAllocator.DEFAULT.directBuffer(100).release();

        assertThat(LeakCheck.found()).isEmpty();
    }

    @Test
    void lostBufferIsOpen() {
        int before = LeakCheck.open();

        lose();

        assertThat(LeakCheck.found()).hasSize(1);
        assertThat(LeakCheck.open()).isEqualTo(before + 1);
    }

    @Test
    void bufferIsOpenUntilItIsReleased() {
        int before = LeakCheck.open();
        ByteBuf buffer = ByteBufAllocator.DEFAULT.directBuffer(100);

        buffer.retain().release();

        assertThat(LeakCheck.open()).isEqualTo(before + 1);
        buffer.release();
        assertThat(LeakCheck.open()).isEqualTo(before);
    }

    private static void lose() {
        ByteBufAllocator.DEFAULT.directBuffer(100).writeByte(1);
    }
}
