package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.triple.BodyReader.Frame;

class WholeBodyTest {

    @Test
    void bodyOfAnySizeFollowsAPause() {
        AdaptiveByteBufAllocator allocator = new AdaptiveByteBufAllocator(true);
        WholeBody body = new WholeBody(1 << 20, false);

        body.add(allocator.buffer().writeZero(100));
        body.compact(); // connections call compact() when no bytes arrive for a while
        for (int i = 0; i < 50; i++) {
            body.add(allocator.buffer().writeZero(10_000));
        }

        Frame whole = Objects.requireNonNull(body.next(true));
        ByteBuf payload = whole.payload();
        assertThat(payload.readableBytes()).isEqualTo(500_100);
        payload.release();
    }

    @Test
    void wholeBufferOfAnIncompleteBodyIsHeld() {
        UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
        WholeBody body = new WholeBody(1 << 20, false);
        body.add(allocator.heapBuffer(1_000).writeZero(1_000));

        for (int i = 0; i < 50; i++) {
            body.add(allocator.heapBuffer().writeZero(10_000));

            assertThat((long) body.held()).isEqualTo(allocator.metric().usedHeapMemory());
        }
        body.close();
        assertThat(body.held()).isZero();
    }
}
