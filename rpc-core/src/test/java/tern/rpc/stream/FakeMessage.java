package tern.rpc.stream;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.transport.Message;

/** A message that counts how many times it is decoded and released. */
final class FakeMessage implements Message {

    private final @Nullable Object value;
    private final int bytes;
    final AtomicInteger decoded = new AtomicInteger();
    final AtomicInteger discarded = new AtomicInteger();

    /** @param value the decoded value; if it is an exception, decoding throws it */
    FakeMessage(@Nullable Object value) {
        this(value, 1);
    }

    FakeMessage(@Nullable Object value, int bytes) {
        this.value = value;
        this.bytes = bytes;
    }

    @Override
    public int bytes() {
        return bytes;
    }

    @Override
    public @Nullable Object decode() {
        decoded.incrementAndGet();
        if (value instanceof RuntimeException failure) {
            throw failure;
        }
        return value;
    }

    @Override
    public void discard() {
        discarded.incrementAndGet();
    }
}
