package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;

/**
 * What became of the last streams that a client opened: frames that come too late are to be told apart from those that
 * should never have come (RFC 9113, 5.1). Most clients open stream after stream and end them in order. Memory is taken for
 * the others only: for a page of streams of which one was reset or passed over. Event loop only.
 */
final class StreamHistory {

    /** Streams, two ids apart, that are remembered at least. */
    static final int STREAMS = 4_096;

    private static final int PAGE_BITS = 8;
    private static final int PAGE_STREAMS = 1 << PAGE_BITS;
    private static final int PAGES = STREAMS / PAGE_STREAMS + 1; // with the one that is being filled

    private static final int STATE_BITS = 2;
    private static final int STATES_OF_A_BYTE = Byte.SIZE / STATE_BITS;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;

    private static final int OPENED = 0;
    private static final int NEVER_OPENED = 1;
    private static final int RESET = 2;
    private static final int RESET_BY_US = 3;

    private byte @Nullable [] @Nullable [] pages; // a ring; all streams of an absent page are OPENED
    private int oldest = -1; // index of the first stream that was opened
    private int newest = -1; // index of the last one

    void opened(int streamId) {
        int index = index(streamId);
        if (newest < 0) {
            oldest = index;
        } else {
            passOver(newest + 1, index);
        }
        newest = index;
    }

    /** Forgets the pages whose places in the ring are needed, and notes which streams are passed over. */
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

    /** The client reset the stream. */
    void reset(int streamId) {
        setIfOpened(streamId, RESET);
    }

    /** We reset the stream, so that frames of the client may have crossed. */
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

    /** Whether the client may have sent frames before it knew of our reset. */
    boolean wasResetByUs(int streamId) {
        return is(RESET_BY_US, streamId);
    }

    /** Whether the stream was passed over, and so closed without ever being open. */
    boolean wasNeverOpened(int streamId) {
        return is(NEVER_OPENED, streamId);
    }

    /** Whether both sides ended the stream in order. */
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
