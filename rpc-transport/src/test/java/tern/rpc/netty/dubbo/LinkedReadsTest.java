package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

/** Tests how much memory an incomplete frame occupies. */
class LinkedReadsTest {

    private static final int LARGE = 64 << 10;

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    private ByteBuf left = Unpooled.EMPTY_BUFFER;
    private int sent;

    private void read(int bytes, int capacity) {
        ByteBuf read = allocator.buffer(capacity, capacity);
        for (int i = 0; i < bytes; i++) {
            read.writeByte(sent++);
        }
        left = LinkedReads.INSTANCE.cumulate(allocator, left, read);
    }

    private void assertAllIsThere() {
        assertThat(left.readableBytes()).isEqualTo(sent);
        for (int i = 0; i < sent; i++) {
            assertThat(left.readByte()).isEqualTo((byte) i);
        }
        left.release();
        assertThat(allocator.metric().usedHeapMemory()).isZero();
    }

    @Test
    void smallReadsBehindLargeOnesTakeNoMoreThanTheirBytes() {
        for (int i = 0; i < 8; i++) {
            read(LARGE, LARGE);
            read(100, LARGE);
            read(3_000, LARGE);
        }

        assertThat(allocator.metric().usedHeapMemory()).isLessThan(sent + sent / 4);
        assertAllIsThere();
    }

    @Test
    void manySmallReadsAreFewParts() {
        read(LARGE, LARGE);
        read(LARGE, LARGE);

        for (int i = 0; i < 10_000; i++) {
            read(1, 64);
        }

        int parts = left instanceof CompositeByteBuf linked ? linked.numComponents() : 1;
        assertThat(parts).isLessThan(100);
        assertAllIsThere();
    }
}
