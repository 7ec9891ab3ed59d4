package tern.rpc.limit;

import java.util.concurrent.atomic.AtomicInteger;

/** How many of the calls inside a {@link Limiter} came from one tenant, such as a connection. Thread-safe. */
public final class Share {

    private final AtomicInteger held = new AtomicInteger();

    /** Calls inside at present. */
    public int held() {
        return held.get();
    }

    void entered() {
        held.incrementAndGet();
    }

    void left() {
        held.decrementAndGet();
    }
}
