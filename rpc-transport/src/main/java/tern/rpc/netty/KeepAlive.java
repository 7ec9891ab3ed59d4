package tern.rpc.netty;

import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Ticker;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.PeriodicTask;

/**
 * Sends a heartbeat to a silent server, and closes the connection if the server does not answer in time. A server also
 * counts as silent if it sends only a few bytes of an incomplete frame. Otherwise, one frame that never ends would hold
 * up all calls of the connection forever. The idle time before a heartbeat and the time limit for its answer are
 * shorter while calls are pending. Confined to the event loop, except where stated otherwise.
 */
final class KeepAlive {

    private static final long MAX_TICK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * The arrival of {@value} bytes of an incomplete frame counts as progress, as a complete frame does
     * (docs/limits.md).
     */
    static final int STEP_BYTES = 10 << 10;

    private final Connection connection;
    private final long heartbeatNanos;
    private final long probeAfterNanos;
    private final long probeTimeoutNanos;
    private final long idlePatienceNanos;
    private NanoClock clock = NanoClock.SYSTEM; // the event loop's clock; set before the connection is ready
    private volatile long heardNanos; // the time of the last received bytes; written only by the event loop
    private long progressNanos; // the time of the last progress: a complete frame, or 10 KiB of an incomplete frame
    private long stepBytes; // the number of bytes that have arrived since progressNanos
    private long askedNanos;
    private boolean awaitsAnswer;
    private @Nullable Future<?> ticking;
    // true while a heartbeat of pingOnce() is unanswered; set without a lock, so two threads might each send a
    // heartbeat
    private volatile boolean isPinged;
    private volatile long pingedNanos;

    /** @param idlePatience the time limit for the answer to a heartbeat that is sent while no calls are pending */
    KeepAlive(Connection connection, ClientTransportSettings settings, Duration idlePatience) {
        this.heardNanos = clock.nanoTime();
        this.connection = connection;
        this.heartbeatNanos = settings.heartbeat().toNanos();
        this.probeAfterNanos = Math.min(settings.probeAfter().toNanos(), heartbeatNanos);
        this.probeTimeoutNanos = settings.probeTimeout().toNanos();
        this.idlePatienceNanos = Math.max(idlePatience.toNanos(), probeTimeoutNanos);
    }

    void start(EventLoop loop) {
        Ticker ticker = loop.ticker();
        clock = () -> ticker.initialNanoTime() + ticker.nanoTime();
        heardNanos = clock.nanoTime();
        progressNanos = heardNanos;
        long tick = Math.max(1_000_000, Math.min(MAX_TICK_NANOS, probeAfterNanos / 4));
        ticking = loop.scheduleWithFixedDelay(
                new PeriodicTask("The heartbeat of a connection", this::look), tick, tick, TimeUnit.NANOSECONDS);
    }

    void stop() {
        if (ticking != null) {
            ticking.cancel(false);
        }
    }

    void heard() {
        heardNanos = clock.nanoTime();
    }

    /**
     * Called after received bytes have been processed.
     *
     * @param frames whether the bytes completed at least one frame
     */
    void progressed(int bytes, boolean frames) {
        stepBytes += bytes;
        if (frames || stepBytes >= STEP_BYTES) {
            progressNanos = heardNanos;
            stepBytes = 0;
            awaitsAnswer = false;
        }
    }

    /** Returns whether bytes from the server have arrived since the given time. Any thread may call this method. */
    boolean isHeardAfter(long nanos) {
        return heardNanos - nanos > 0;
    }

    /**
     * Sends a heartbeat unless an earlier heartbeat from this method is unanswered. Any thread may call this method.
     */
    void pingOnce() {
        if (!isPinged || isHeardAfter(pingedNanos)) {
            isPinged = true;
            pingedNanos = clock.nanoTime();
            connection.ping();
        }
    }

    private void look() {
        long now = clock.nanoTime();
        boolean busy = connection.inFlight() > 0;
        if (awaitsAnswer) {
            long patience = busy ? probeTimeoutNanos : idlePatienceNanos;
            if (now - askedNanos >= patience) {
                long millis = TimeUnit.NANOSECONDS.toMillis(now - progressNanos);
                connection.close(
                        stepBytes == 0
                                ? "nothing was received for " + millis + " ms"
                                : "only " + stepBytes + " bytes of an incomplete frame were received within " + millis
                                        + " ms");
            }
        } else if (now - progressNanos >= (busy ? probeAfterNanos : heartbeatNanos)) {
            awaitsAnswer = true;
            askedNanos = now;
            connection.ping();
        }
    }
}
