package tern.rpc.netty.triple;

/**
 * Limits a client's pings to the number that gRPC servers accept. gRPC servers count the pings that arrive after the
 * server's last HEADERS or DATA frame. By default, grpc-java closes the connection at the third of these pings, unless
 * the pings are at least five minutes apart, or at least two hours apart while no call is in flight. Confined to the
 * event loop.
 */
final class PingPace {

    private static final int MAX_PINGS = 2;

    private int sent; // the number of pings sent since headers or data last arrived
    private int unacknowledged;

    /**
     * Restarts the count of pings, as the server does. Called when headers or data have arrived. An unacknowledged ping
     * still counts, because the server might have received it after it sent the headers or data.
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
