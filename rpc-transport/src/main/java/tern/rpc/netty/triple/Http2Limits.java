package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.util.concurrent.TimeUnit;

/**
 * What a peer may do on one connection of HTTP/2 before it is cut off with ENHANCE_YOUR_CALM (docs/limits.md).
 * Windows of time begin with the first event after the last one ended. Event loop only.
 */
final class Http2Limits {

    /** Resets in a window from which on their share decides. */
    static final int MANY_RESETS = 200;

    /** Resets in a window that nobody needs. */
    static final int MAX_RESETS = 2_000;

    /**
     * The longest time limit of a call whose reset may have come by that limit. Its client counts from the moment it
     * sends, this server from the moment it reads. A busy server reads both at once, so the share does not decide here.
     */
    static final long SHORT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Frames that carry nothing for a call, in a window in which no request and no answer moved. */
    static final int MAX_CONTROL_FRAMES = 1_000;

    /** Frames on streams that we have reset, in a window: what the window of a connection takes, in frames of half a KiB. */
    static final int MAX_FRAMES_IN_VAIN = 16 << 10;

    /** Frames of data in a row that are empty and do not end their stream. */
    static final int MAX_EMPTY_DATA = 2;

    /**
     * Control frames that one DATA frame allows: a client may tell the window of the stream and of the connection after
     * each KiB that it reads.
     */
    static final int CONTROL_FRAMES_PER_DATA = 32;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** Pings closer to each other than this are strikes: with calls in flight, and without. */
    private static final long PING_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final long IDLE_PING_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final int STRIKES = 2;

    private long windowNanos = System.nanoTime();
    private int ended;
    private int resets;
    private int resetsByTimeout; // of those
    private int controlFrames;
    private int framesInVain;
    private int emptyData; // in a row
    private long pingNanos;
    private boolean pinged;
    private int strikes;

    /** A stream ended, in whichever way. */
    void streamEnded(long now) {
        window(now);
        ended++;
    }

    /**
     * A stream was reset before anything of its answer was sent and before its method began. Told before
     * {@link #streamEnded}.
     *
     * @param mayBeTimeout whether its time limit is at most {@link #SHORT_TIMEOUT_NANOS}
     */
    void reset(long now, boolean mayBeTimeout) throws Http2Exception {
        window(now);
        resets++;
        if (mayBeTimeout) {
            resetsByTimeout++;
        }
        int wilful = resets - resetsByTimeout;
        if (resets > MAX_RESETS || (wilful > MANY_RESETS && wilful * 2L > ended + 1L)) {
            throw calmDown(resets + " streams were reset before their answer within 30 s, " + ended + " ended in all");
        }
    }

    /** A frame that carries nothing for a call. */
    void controlFrame(long now) throws Http2Exception {
        window(now);
        if (++controlFrames > MAX_CONTROL_FRAMES) {
            throw calmDown(controlFrames + " control frames within 30 s without any call");
        }
    }

    /** A frame came on a stream that we have reset. */
    void frameInVain(long now) throws Http2Exception {
        window(now);
        if (++framesInVain > MAX_FRAMES_IN_VAIN) {
            throw calmDown(framesInVain + " frames came within 30 s on streams that had been reset");
        }
    }

    /** Headers came, or data, of which only so many frames in a row may be empty without ending their stream. */
    void arrived(boolean something) throws Http2Exception {
        if (something) {
            emptyData = 0;
        } else if (++emptyData > MAX_EMPTY_DATA) {
            throw calmDown(emptyData + " frames of data in a row were empty and did not end their stream");
        }
    }

    /** Headers or data moved, in either direction. */
    void moved() {
        controlFrames = 0;
        strikes = 0;
    }

    /** DATA frames of a message are on their way, whose end may be far. */
    void dataSent(int frames) {
        controlFrames = (int) Math.max(0, controlFrames - (long) frames * CONTROL_FRAMES_PER_DATA);
        strikes = 0;
    }

    /** An answer is on its way: pings count anew. */
    void forgivePings() {
        strikes = 0;
    }

    void ping(long now, boolean calls) throws Http2Exception {
        controlFrame(now);
        boolean early = pinged && now - pingNanos < (calls ? PING_NANOS : IDLE_PING_NANOS);
        pinged = true;
        pingNanos = now;
        if (early && ++strikes > STRIKES) {
            throw calmDown("too_many_pings");
        }
    }

    private void window(long now) {
        if (now - windowNanos > WINDOW_NANOS) {
            windowNanos = now;
            ended = 0;
            resets = 0;
            resetsByTimeout = 0;
            controlFrames = 0;
            framesInVain = 0;
        }
    }

    private static Http2Exception calmDown(String how) {
        return Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, how);
    }
}
