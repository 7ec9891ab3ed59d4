package tern.rpc.netty;

import org.jspecify.annotations.Nullable;

/**
 * The memory that a server spends on answers by HTTP that clients have not taken. Streams add to it; when it is used up, a
 * stream that has more to send is ended. Thread-safe.
 */
final class UnsentBudget {

    private final int maxStreamBytes;
    private final FairBudget all;

    UnsentBudget(int maxStreamBytes, long maxBytes) {
        this.maxStreamBytes = maxStreamBytes;
        this.all = new FairBudget(maxBytes);
    }

    /** @param bytes negative for what has left */
    void add(long bytes) {
        all.add(bytes);
    }

    long used() {
        return all.used();
    }

    /**
     * Why a stream may not add a message, for people; null if it may.
     *
     * @param ofStream bytes of the stream that wait already
     * @param message bytes of the message
     * @param ofConnection bytes of its connection that wait already
     */
    @Nullable
    String refusal(long ofStream, int message, long ofConnection) {
        if (ofStream + message > maxStreamBytes) {
            return ofStream + " bytes of the stream wait for its caller, and " + message + " more are beyond "
                    + maxStreamBytes + " (set by rpc.limits.max-unsent-per-stream)";
        }
        return all.hasRoom(ofConnection)
                ? null
                : all.used() + " of " + all.maxBytes() + " bytes wait for the callers of all streams, " + ofConnection
                        + " of them on this connection (set by rpc.limits.max-unsent-answers)";
    }
}
