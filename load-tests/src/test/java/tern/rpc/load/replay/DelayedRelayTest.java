package tern.rpc.load.replay;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DelayedRelayTest {

    private static final long DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final AtomicLong clock = new AtomicLong();
    private final DelayLog log = new DelayLog();
    private final EmbeddedChannel other = new EmbeddedChannel();
    private final EmbeddedChannel channel = new EmbeddedChannel(new DelayedRelay(other, DELAY_NANOS, log, clock::get));

    DelayedRelayTest() {
        channel.freezeTime();
    }

    @Test
    void bytesWaitForTheirTimeAndKeepTheirOrder() {
        channel.writeInbound(bytes("one"));
        pass(DELAY_NANOS / 2);
        channel.writeInbound(bytes("two"));

        assertThat(sent()).isNull();
        pass(DELAY_NANOS / 2);
        assertThat(sent()).isEqualTo("one");
        assertThat(sent()).isNull();
        pass(DELAY_NANOS / 2);
        assertThat(sent()).isEqualTo("two");
    }

    @Test
    void realDelayIsRecorded() {
        channel.writeInbound(bytes("one"));
        // Advancing the clock simulates a busy machine that wakes the event loop late.
        clock.addAndGet(2 * DELAY_NANOS);
        pass(DELAY_NANOS);

        assertThat(log.summary()).isEqualTo("3.00 ms on average, p99 3.0 ms, at most 3.0 ms, 1 times");
        other.releaseOutbound();
    }

    @Test
    void endComesAfterTheLastBytes() {
        channel.writeInbound(bytes("last"));
        channel.pipeline().fireChannelInactive();

        assertThat(other.isOpen()).isTrue();
        pass(DELAY_NANOS);
        assertThat(sent()).isEqualTo("last");
        assertThat(other.isOpen()).isFalse();
    }

    @Test
    void unusedProxySaysSo() {
        assertThat(log.summary()).isEqualTo("not used");
    }

    private void pass(long nanos) {
        clock.addAndGet(nanos);
        channel.advanceTimeBy(nanos, TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
    }

    private @Nullable String sent() {
        ByteBuf next = other.readOutbound();
        if (next == null) {
            return null;
        }
        try {
            return next.toString(UTF_8);
        } finally {
            next.release();
        }
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, UTF_8);
    }
}
