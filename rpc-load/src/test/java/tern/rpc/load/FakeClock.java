package tern.rpc.load;

import java.time.Duration;

/** Moves when a user waits, and when a call takes its time. */
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
