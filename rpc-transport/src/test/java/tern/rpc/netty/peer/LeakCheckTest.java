package tern.rpc.netty.peer;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufAllocator;
import org.junit.jupiter.api.Test;

/** Tests that the leak check fails for a leaked buffer. If the check detected nothing, leaks would pass unnoticed. */
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

    private static void lose() {
        ByteBufAllocator.DEFAULT.directBuffer(100).writeByte(1);
    }
}
