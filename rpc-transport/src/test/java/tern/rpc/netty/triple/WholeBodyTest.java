package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.triple.BodyReader.Frame;

class WholeBodyTest {

    @Test
    void bodyOfAnySizeFollowsAPause() {
        AdaptiveByteBufAllocator allocator = new AdaptiveByteBufAllocator(true);
        WholeBody body = new WholeBody(1 << 20, false);

        body.add(allocator.buffer().writeZero(100));
        body.compact(); // the body pauses
        for (int i = 0; i < 50; i++) {
            body.add(allocator.buffer().writeZero(10_000));
        }

        Frame whole = Objects.requireNonNull(body.next(true));
        ByteBuf payload = whole.payload();
        assertThat(payload.readableBytes()).isEqualTo(500_100);
        payload.release();
    }
}
