package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;

/**
 * The end states of the streams that a client opened most recently. The end state of a stream shows whether a frame on
 * it is late or forbidden (RFC 9113, 5.1). Most clients open streams in order and end them normally, so memory is
 * allocated only for pages with at least one reset or skipped stream. Confined to the event loop.
 */
final class StreamHistory {

    /**
     * The minimum number of streams whose end states are stored. The ids of consecutive streams differ by 2, so the
     * stored ids cover a range that is twice as large.
     */
    static final int STREAMS = 4_096;

    private static final int PAGE_BITS = 8;
    private static final int PAGE_STREAMS = 1 << PAGE_BITS;
    // one page is added, because the newest page is usually not full
    private static final int PAGES = STREAMS / PAGE_STREAMS + 1;

    private static final int STATE_BITS = 2;
    private static final int STATES_OF_A_BYTE = Byte.SIZE / STATE_BITS;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;

    private static final int OPENED = 0;
    private static final int NEVER_OPENED = 1;
    private static final int RESET = 2;
    private static final int RESET_BY_US = 3;

    // a ring buffer of pages; a null page means that all of its streams have the state OPENED
    private byte @Nullable [] @Nullable [] pages;
    private int oldest = -1; // the index of the first stream that the client opened
    private int newest = -1; // the index of the stream that the client opened last

    void opened(int streamId) {
        int index = index(streamId);
        if (newest < 0) {
            oldest = index;
        } else {
            passOver(newest + 1, index);
        }
        newest = index;
    }

    /**
     * Records the stream ids that the client skipped. Removes the oldest pages if the ring buffer needs their slots for
     * new pages.
     */
    private void passOver(int from, int to) {
        byte[][] kept = pages;
        if (kept != null) {
            int first = Math.max(pageOf(from - 1) + 1, pageOf(to) - PAGES + 1);
            for (int page = first; page <= pageOf(to); page++) {
                kept[page % PAGES] = null;
            }
        }
        for (int index = Math.max(from, firstRemembered(to)); index < to; index++) {
            set(index, NEVER_OPENED);
        }
    }

    /** Records that the client has reset the stream. */
    void reset(int streamId) {
        setIfOpened(streamId, RESET);
    }

    /** Records that the server has reset the stream. Frames from the client can still arrive on the stream. */
    void resetByUs(int streamId) {
        setIfOpened(streamId, RESET_BY_US);
    }

    private void setIfOpened(int streamId, int state) {
        int index = index(streamId);
        if (isRemembered(index) && index >= oldest) {
            set(index, state);
        }
    }

    private void set(int index, int state) {
        byte[][] ring = pages;
        if (ring == null) {
            ring = new byte[PAGES][];
            pages = ring;
        }
        int place = pageOf(index) % PAGES;
        byte[] page = ring[place];
        if (page == null) {
            page = new byte[PAGE_STREAMS / STATES_OF_A_BYTE];
            ring[place] = page;
        }
        int at = byteOf(index);
        page[at] = (byte) ((page[at] & ~(STATE_MASK << shiftOf(index))) | (state << shiftOf(index)));
    }

    /**
     * Returns whether the server has reset the stream. If so, the client might have sent frames before it received the
     * reset.
     */
    boolean wasResetByUs(int streamId) {
        return is(RESET_BY_US, streamId);
    }

    /**
     * Returns whether the client skipped the stream id. A skipped stream is treated as closed even though it was never
     * open.
     */
    boolean wasNeverOpened(int streamId) {
        return is(NEVER_OPENED, streamId);
    }

    /** Returns whether both sides ended the stream without a reset. */
    boolean endedInOrder(int streamId) {
        return is(OPENED, streamId);
    }

    private boolean is(int state, int streamId) {
        int index = index(streamId);
        return isRemembered(index) && state(index) == state;
    }

    private int state(int index) {
        if (index < oldest) {
            return NEVER_OPENED;
        }
        byte[] page = pages == null ? null : pages[pageOf(index) % PAGES];
        return page == null ? OPENED : (page[byteOf(index)] >>> shiftOf(index)) & STATE_MASK;
    }

    private boolean isRemembered(int index) {
        return index <= newest && index >= firstRemembered(newest);
    }

    private static int firstRemembered(int newest) {
        return Math.max(0, (pageOf(newest) - PAGES + 1) * PAGE_STREAMS);
    }

    private static int pageOf(int index) {
        return index >> PAGE_BITS;
    }

    private static int byteOf(int index) {
        return (index & (PAGE_STREAMS - 1)) / STATES_OF_A_BYTE;
    }

    private static int shiftOf(int index) {
        return index % STATES_OF_A_BYTE * STATE_BITS;
    }

    private static int index(int streamId) {
        return streamId >>> 1;
    }
}
