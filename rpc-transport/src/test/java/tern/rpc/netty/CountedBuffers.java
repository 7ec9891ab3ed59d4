package tern.rpc.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.util.ResourceLeakDetector;

/**
 * Buffers whose bytes are counted until they are released. That finds a lost buffer at once and exactly, for a hundredth
 * of what the records of Netty's leak detector cost, which rests until this is closed. One thread at a time.
 */
final class CountedBuffers implements AutoCloseable {

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true, true);
    private final ByteBufAllocatorMetric metric = allocator.metric();
    private final ResourceLeakDetector.Level detection = ResourceLeakDetector.getLevel();

    CountedBuffers() {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }

    /** Whatever the channel reads and writes is counted from here on. */
    void count(Channel channel) {
        channel.config().setAllocator(allocator);
    }

    /** Some bytes as a socket would bring them. */
    ByteBuf of(byte[] bytes, int from, int to) {
        return allocator.directBuffer(to - from).writeBytes(bytes, from, to - from);
    }

    /** Fails if anything is still held. */
    void check() {
        long held = metric.usedDirectMemory() + metric.usedHeapMemory();
        if (held != 0) {
            throw new AssertionError(held + " bytes of buffers were never released");
        }
    }

    @Override
    public void close() {
        ResourceLeakDetector.setLevel(detection);
    }
}
