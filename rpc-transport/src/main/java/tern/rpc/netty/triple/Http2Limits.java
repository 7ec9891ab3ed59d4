package tern.rpc.netty.triple;

import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import java.util.concurrent.TimeUnit;

/**
 * The limits for the peer of one HTTP/2 connection. If the peer exceeds a limit, the connection is closed with
 * ENHANCE_YOUR_CALM (docs/limits.md). Events are counted in time windows of 30 seconds. A window begins at the first
 * event after the previous window has ended. Confined to the event loop.
 */
final class Http2Limits {

    /**
     * The number of resets in a time window that are always allowed. If there are more, at most half of the streams
     * that ended in the window may have been reset. Resets that a timeout might have caused do not count.
     */
    static final int MANY_RESETS = 200;

    /** The maximum number of resets in a time window of 30 seconds. */
    static final int MAX_RESETS = 2_000;

    /**
     * A reset of a stream does not count towards the share of resets if the call's timeout is at most this long,
     * because the timeout might have caused the reset. The client's timeout starts earlier than the server's timeout,
     * so a busy server might read the request and its reset together.
     */
    static final long SHORT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The maximum number of control frames in 30 seconds during which no request or answer makes progress. */
    static final int MAX_CONTROL_FRAMES = 1_000;

    /**
     * The maximum number of frames in a time window of 30 seconds on streams that this side has already reset. Frames
     * with data on recently reset streams do not count, because {@link #MAX_BYTES_IN_VAIN} limits their bytes.
     */
    static final int MAX_FRAMES_IN_VAIN = 16 << 10;

    /**
     * The maximum number of bytes in DATA frames in a time window of 30 seconds on streams that this side has already
     * reset. For each stream that has ended, another {@link ReceiveWindows#STREAM_BYTES} are permitted, because the
     * peer might have filled the flow-control window of the stream before it received the reset. The number of these
     * frames has no separate limit, because a peer can send each small message of a stream in a separate frame. A frame
     * counts as at least {@link #MIN_BYTES_IN_VAIN}.
     */
    static final long MAX_BYTES_IN_VAIN = ReceiveWindows.CONNECTION_BYTES;

    /**
     * A shorter DATA frame counts as {@value} bytes towards {@link #MAX_BYTES_IN_VAIN}, because each frame costs time.
     * A frame that contains a whole gRPC message is at least this long.
     */
    static final int MIN_BYTES_IN_VAIN = 5;

    /** The maximum number of consecutive DATA frames that are empty and do not end their stream. */
    static final int MAX_EMPTY_DATA = 2;

    /**
     * The number of control frames that each sent DATA frame permits, even if the DATA frame contains a single byte. In
     * response to a DATA frame, a client can update the flow-control windows of the stream and the connection, and
     * measure the bandwidth with a ping.
     */
    static final int CONTROL_FRAMES_PER_DATA = 4;

    /**
     * Each time {@value} bytes have been sent, one more control frame is permitted. A client can update the
     * flow-control windows of the stream and the connection after each KiB that it reads.
     */
    static final int BYTES_PER_CONTROL_FRAME = 512;

    /**
     * The maximum total cost, within 30 seconds, of frames that make the codec process all open streams. Each such
     * frame costs 1, and another 1 for each {@link #STREAMS_PER_COST} open streams. Calls do not reset this cost,
     * because a one-byte request costs the peer much less than these frames cost this process.
     */
    static final int MAX_VISITS = 1_000;

    static final int STREAMS_PER_COST = 32;

    /**
     * Each time {@value} answer bytes have been sent, the cost that {@link #MAX_VISITS} limits is reduced by 1. A peer
     * may therefore change its windows each time it has received a few MiB, as {@link ReceiveWindows} does.
     */
    static final int BYTES_PER_COST = 64 << 10;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(30);

    /**
     * The tolerance for pings that arrive early. Clients send pings at regular intervals, but the transmission times
     * differ.
     */
    private static final long JITTER_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /**
     * The minimum interval between pings while calls are in flight. A ping that arrives after a shorter interval is a
     * strike. The third strike closes the connection.
     */
    private static final long PING_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * The minimum interval between pings while no call is in flight. A ping that arrives after a shorter interval is a
     * strike, as for {@link #PING_NANOS}.
     */
    private static final long IDLE_PING_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final int STRIKES = 2;

    private long windowNanos = System.nanoTime();
    private int ended;
    private int endedBefore; // the number of streams that ended in the previous time window
    private int resets;
    private int resetsByTimeout; // the number of resets that might have been caused by timeouts
    private int controlFrames;
    private long visits; // the cost of frames that make the codec process all streams, multiplied by BYTES_PER_COST
    private int framesInVain;
    private long bytesInVain;
    private int emptyData; // the number of consecutive empty DATA frames
    private long pingNanos;
    private boolean pinged;
    private int strikes;

    /**
     * Counts a stream that has ended, with or without a reset. The share of reset streams is computed from the number
     * of ended streams.
     */
    void streamEnded(long now) {
        window(now);
        ended++;
    }

    /**
     * Counts a reset towards the reset limits. Called when the client resets a stream before the method has started and
     * before any part of the answer has been sent. Must be called before {@link #streamEnded}.
     *
     * @param mayBeTimeout whether the timeout of the call is at most {@link #SHORT_TIMEOUT_NANOS}
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

    /**
     * Counts a frame that is not part of a call, such as SETTINGS or PING, towards {@link #MAX_CONTROL_FRAMES}.
     */
    void controlFrame(long now) throws Http2Exception {
        window(now);
        if (++controlFrames > MAX_CONTROL_FRAMES) {
            throw calmDown(controlFrames + " control frames within 30 s without any call");
        }
    }

    /**
     * Adds the cost of a frame that makes the codec visit all open streams: GOAWAY, or SETTINGS that contain an initial
     * window size. Closes the connection if the cost exceeds {@link #MAX_VISITS}.
     */
    void streamsVisited(long now, int streams) throws Http2Exception {
        window(now);
        visits += (1L + streams / STREAMS_PER_COST) * BYTES_PER_COST;
        if (visits > (long) MAX_VISITS * BYTES_PER_COST) {
            throw calmDown("SETTINGS that change the initial window, or GOAWAY, too often within 30 s, with " + streams
                    + " open streams: cost " + visits / BYTES_PER_COST + ", limit " + MAX_VISITS);
        }
    }

    /** Called when bytes of an answer are being written. Lowers the cost counted by {@link #streamsVisited}. */
    void answered(int bytes) {
        visits = Math.max(0, visits - bytes);
    }

    /**
     * Counts a frame on a stream that this side has already reset. The frame counts towards {@link
     * #MAX_FRAMES_IN_VAIN}.
     */
    void frameInVain(long now) throws Http2Exception {
        frameInVain(now, 0);
    }

    /**
     * @param permitted the number of additional frames permitted for each stream that has ended. Streams that ended in
     *     the previous time window count too, because a new window can begin between the end of a stream and its last
     *     frames
     */
    void frameInVain(long now, int permitted) throws Http2Exception {
        window(now);
        if (++framesInVain > MAX_FRAMES_IN_VAIN + (long) permitted * (endedBefore + (long) ended)) {
            throw calmDown(framesInVain + " frames came within 30 s on streams that had been reset");
        }
    }

    /**
     * Counts a frame on a stream that this side has reset. The bytes of a frame with data count towards {@link
     * #MAX_BYTES_IN_VAIN}. A frame without data counts towards {@link #MAX_FRAMES_IN_VAIN}.
     *
     * @param bytes the number of bytes that flow control counts for the frame; 0 if the frame has no data
     * @param permitted the same as for {@link #frameInVain(long, int)}
     */
    void inVain(long now, int bytes, int permitted) throws Http2Exception {
        if (bytes == 0) {
            frameInVain(now, permitted);
            return;
        }
        window(now);
        bytesInVain += Math.max(bytes, MIN_BYTES_IN_VAIN);
        if (bytesInVain > MAX_BYTES_IN_VAIN + ReceiveWindows.STREAM_BYTES * (endedBefore + (long) ended)) {
            throw calmDown(bytesInVain + " bytes came within 30 s on streams that had been reset");
        }
    }

    /**
     * Called for each received HEADERS or DATA frame. Limits the number of consecutive empty DATA frames.
     *
     * @param isProgress whether the frame counts as progress; false for an empty DATA frame that does not end its
     *     stream
     */
    void arrived(boolean isProgress) throws Http2Exception {
        if (isProgress) {
            emptyData = 0;
        } else if (++emptyData > MAX_EMPTY_DATA) {
            throw calmDown(emptyData + " frames of data in a row were empty and did not end their stream");
        }
    }

    /**
     * Resets the count of control frames and the count of pings that arrived too early. Called when headers or data
     * have been transmitted in either direction.
     */
    void moved() {
        controlFrames = 0;
        strikes = 0;
    }

    /**
     * Called when a DATA frame is being sent. The frame permits {@link #CONTROL_FRAMES_PER_DATA} control frames, and
     * another one for each {@link #BYTES_PER_CONTROL_FRAME} bytes.
     */
    void dataSent(int bytes) {
        int permitted = CONTROL_FRAMES_PER_DATA + bytes / BYTES_PER_CONTROL_FRAME;
        controlFrames = Math.max(0, controlFrames - permitted);
        strikes = 0;
    }

    /** Resets the count of pings that arrived too early, because an answer is being sent. */
    void forgivePings() {
        strikes = 0;
    }

    void ping(long now, boolean calls) throws Http2Exception {
        controlFrame(now);
        boolean early = pinged && now - pingNanos < (calls ? PING_NANOS : IDLE_PING_NANOS) - JITTER_NANOS;
        pinged = true;
        pingNanos = now;
        if (early && ++strikes > STRIKES) {
            throw calmDown("too_many_pings");
        }
    }

    private void window(long now) {
        if (now - windowNanos > WINDOW_NANOS) {
            windowNanos = now;
            endedBefore = ended;
            ended = 0;
            resets = 0;
            resetsByTimeout = 0;
            controlFrames = 0;
            visits = 0;
            framesInVain = 0;
            bytesInVain = 0;
        }
    }

    private static Http2Exception calmDown(String how) {
        return Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, how);
    }
}
