package tern.rpc.netty.triple;

/**
 * Limits a client's pings to the number that gRPC servers accept. These servers count the pings that arrive after their
 * last HEADERS or DATA frame. By default, grpc-java closes a young connection at the third of these pings: it expects
 * pauses of five minutes between pings while calls are in flight, and pauses of two hours at other times. Confined to
 * the event loop.
 */
final class PingPace {

    private static final int MAX_PINGS = 2;

    private int sent; // the number of pings sent since the last headers or data of the server
    private int unacknowledged;

    /**
     * Restarts the count of pings, as the server does. Called when headers or data have arrived. An unacknowledged ping
     * still counts, because the server may have received it after it sent the headers or data.
     */
    void moved() {
        sent = unacknowledged;
    }

    /** Called when the server has acknowledged a ping. */
    void acknowledged() {
        unacknowledged = Math.max(0, unacknowledged - 1);
    }

    /** Returns whether a ping may be sent now. If so, counts the ping. */
    boolean take() {
        if (sent >= MAX_PINGS) {
            return false;
        }
        sent++;
        unacknowledged++;
        return true;
    }
}
