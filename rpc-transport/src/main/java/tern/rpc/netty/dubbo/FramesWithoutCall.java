package tern.rpc.netty.dubbo;

import java.util.concurrent.TimeUnit;
import tern.rpc.NanoClock;

/**
 * Counts the heartbeats, other events and responses of a client. One read can contain thousands of heartbeats, and the
 * server must answer each heartbeat. Dubbo sends one heartbeat per minute. Confined to the event loop.
 */
final class FramesWithoutCall {

    /** The maximum number of heartbeats, other events and responses within 30 seconds (docs/limits.md). */
    static final int MAX_FRAMES = 1_000;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final NanoClock clock;
    private long windowNanos;
    private int frames; // the number of frames in the current time window

    FramesWithoutCall(NanoClock clock) {
        this.clock = clock;
        this.windowNanos = clock.nanoTime();
    }

    /** Counts a heartbeat, other event or response. Returns whether there are too many of them in the current time window. */
    boolean isTooMany() {
        long now = clock.nanoTime();
        if (now - windowNanos >= WINDOW_NANOS) {
            windowNanos = now;
            frames = 0;
        }
        return ++frames > MAX_FRAMES;
    }
}
