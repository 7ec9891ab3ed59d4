package tern.rpc.limit;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/** How many of the calls inside a {@link Limiter} came from one tenant, such as a connection. Thread-safe. */
public final class Share {

    private static final AtomicIntegerFieldUpdater<Share> HELD =
            AtomicIntegerFieldUpdater.newUpdater(Share.class, "held");

    private volatile int held; // changed by HELD

    /** Calls inside at present. */
    public int held() {
        return held;
    }

    void entered() {
        HELD.incrementAndGet(this);
    }

    void left() {
        HELD.decrementAndGet(this);
    }
}
