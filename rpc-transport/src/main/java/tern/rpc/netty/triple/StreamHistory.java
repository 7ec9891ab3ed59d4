package tern.rpc.netty.triple;

import java.util.Arrays;

/**
 * What became of the last streams that a client opened: frames that come too late are to be told apart from those that
 * should never have come (RFC 9113, 5.1). Event loop only.
 */
final class StreamHistory {

    /** How many streams, two ids apart, are remembered. */
    private static final int STREAMS = 4_096;

    private static final byte NEVER_OPENED = 0;
    private static final byte OPENED = 1;
    private static final byte RESET = 2;
    private static final byte REFUSED = 3;

    private final byte[] last = new byte[STREAMS];
    private int highest = -1; // index of the newest stream

    void opened(int streamId) {
        int index = index(streamId);
        if (index - highest >= STREAMS) {
            Arrays.fill(last, NEVER_OPENED);
        } else {
            for (int skipped = highest + 1; skipped < index; skipped++) {
                last[skipped % STREAMS] = NEVER_OPENED;
            }
        }
        highest = index;
        last[index % STREAMS] = OPENED;
    }

    /** Either side ended the stream before its time, so that frames may have crossed. */
    void reset(int streamId) {
        set(streamId, RESET);
    }

    /** The stream was one too many, and reset before anything was made of it. */
    void refused(int streamId) {
        set(streamId, REFUSED);
    }

    private void set(int streamId, byte state) {
        if (isRemembered(streamId)) {
            last[index(streamId) % STREAMS] = state;
        }
    }

    /** Whether its client may still be sending what it will find out to be in vain. */
    boolean wasRefused(int streamId) {
        return isRemembered(streamId) && last[index(streamId) % STREAMS] == REFUSED;
    }

    /** Whether the stream was passed over, and so closed without ever being open. */
    boolean wasNeverOpened(int streamId) {
        return isRemembered(streamId) && last[index(streamId) % STREAMS] == NEVER_OPENED;
    }

    /** Whether both sides ended the stream in order. */
    boolean endedInOrder(int streamId) {
        return isRemembered(streamId) && last[index(streamId) % STREAMS] == OPENED;
    }

    private boolean isRemembered(int streamId) {
        int index = index(streamId);
        return index <= highest && highest - index < STREAMS;
    }

    private static int index(int streamId) {
        return streamId >>> 1;
    }
}
