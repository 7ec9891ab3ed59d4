package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class FramesWithoutCallTest {

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
    private final FramesWithoutCall frames = new FramesWithoutCall(now::get);

    @Test
    void framesAreCountedSeparatelyInEachTimeWindow() {
        for (int window = 0; window < 3; window++) {
            for (int i = 0; i < FramesWithoutCall.MAX_FRAMES; i++) {
                assertThat(frames.isTooMany()).isFalse();
            }
            now.addAndGet(TimeUnit.SECONDS.toNanos(30));
        }
    }

    @Test
    void moreFramesInOneTimeWindowAreTooMany() {
        for (int i = 0; i < FramesWithoutCall.MAX_FRAMES; i++) {
            assertThat(frames.isTooMany()).isFalse();
        }

        assertThat(frames.isTooMany()).isTrue();
    }
}
