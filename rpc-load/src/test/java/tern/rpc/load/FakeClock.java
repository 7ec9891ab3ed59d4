package tern.rpc.load;

import java.time.Duration;

/** A clock that advances only when a user thread waits, or when a simulated call takes time. */
final class FakeClock implements LoadClock {

    private long now;

    void advance(Duration duration) {
        now += duration.toNanos();
    }

    @Override
    public long nanoTime() {
        return now;
    }

    @Override
    public void waitUntil(long nanoTime) {
        now = Math.max(now, nanoTime);
    }
}
