package tern.rpc.stream;

import tern.rpc.transport.MessageStream;

/**
 * Calculates how many messages are requested from the transport before the subscriber requests them. Without these
 * requests, a subscriber that requests one message at a time would wait for the transport before each message. The
 * transport also limits the bytes that it delivers in advance ({@link MessageStream#ALLOWED_BYTES}). Thread-safe.
 */
final class Prefetch {

    /** The result of {@link #delivered} if the transport needs no request. */
    static final int NO_REQUEST = -1;

    /** The initial number of messages requested in advance. The number does not grow while the subscriber is slow. */
    private static final int MIN_AHEAD = 16;

    /** The maximum number of messages requested in advance, for a subscriber that is faster than the peer. */
    private static final int MAX_AHEAD = 256;

    /**
     * Each time the transport has delivered this many bytes, it may deliver more. The number is half of the bytes that
     * the transport may deliver at a time. A large message therefore need not wait until the subscriber has received
     * all earlier messages.
     */
    private static final int RENEWAL_BYTES = MessageStream.ALLOWED_BYTES / 2;

    private boolean begun;
    private int onTheirWay; // the number of messages requested from the transport but not yet delivered
    private int ahead = MIN_AHEAD;
    private int unrenewedBytes; // the number of bytes delivered since the last request to the transport

    /**
     * Returns the number of messages to request. Called when the subscriber makes a request. Returns
     * {@link #NO_REQUEST} after the first call.
     */
    synchronized int begin() {
        if (begun) {
            return NO_REQUEST;
        }
        begun = true;
        onTheirWay = ahead;
        return ahead;
    }

    /**
     * Called when a message has been delivered.
     *
     * @param starved true if no other message is waiting for the subscriber
     * @return the number of additional messages to request, which may be 0, or {@link #NO_REQUEST}
     */
    synchronized int delivered(int bytes, boolean starved) {
        onTheirWay--;
        unrenewedBytes += bytes;
        boolean few = onTheirWay <= ahead / 2; // messages are requested in batches, not one by one
        if (few && starved) {
            ahead = Math.min(MAX_AHEAD, 2 * ahead);
        }
        if (!few && unrenewedBytes < RENEWAL_BYTES) {
            return NO_REQUEST;
        }
        unrenewedBytes = 0;
        int more = few ? ahead - onTheirWay : 0;
        onTheirWay += more;
        return more;
    }
}
