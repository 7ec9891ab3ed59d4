package tern.rpc.transport;

import tern.rpc.endpoint.Endpoint;

/**
 * The connection to one endpoint. It connects in the background and reconnects after every loss until it is closed.
 * Thread-safe. No method blocks.
 */
public interface ClientConnection extends AutoCloseable {

    Endpoint endpoint();

    /** Whether calls are sent at once. Only reads a flag. */
    boolean isAvailable();

    /** Whether calls wait for an attempt to connect that is in progress. */
    boolean isConnecting();

    /** The reason why the last attempt failed or the connection was lost; empty if there is none. */
    String lastFailure();

    /** The number of calls that have no answer yet. */
    int inFlight();

    /** The bytes of requests that wait for the sockets. */
    long queuedBytes();

    /** The number of answers since the start that arrived after their calls had ended. */
    long lateAnswers();

    /**
     * Encodes the request on the calling thread and queues it. If the caller waits ({@link PendingCall#await}), its
     * thread may send the request instead. The pending call always completes exactly once: with an answer, at its
     * deadline, or with a failure.
     */
    void send(PendingCall call);

    /**
     * Starts a streaming call. If the method takes one request, the arguments of the call are sent as this request;
     * otherwise the caller sends the requests. The pending call completes at the end of the call: after the last
     * message with an answer that has no value, or with a failure. If the pending call is failed, the stream also ends
     * at the server, even before this method returns. Messages and the end are delivered in order on the event loop.
     * The completion runs on the pending call's executor.
     *
     * @throws tern.rpc.RpcException if the stream cannot be opened; the pending call then does not complete.
     *     UNIMPLEMENTED if the protocol has no streams
     */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver);

    /**
     * Whether the server has ever sent something. A process that only accepts connections may be frozen. True if this
     * is unknown.
     */
    default boolean wasHeard() {
        return true;
    }

    /**
     * Whether bytes of the server have arrived after this time.
     *
     * @param nanos a time on the clock of {@link System#nanoTime()}
     * @return false if this is unknown
     */
    default boolean isHeardAfter(long nanos) {
        return false;
    }

    /**
     * Asks the server for a sign of life, which {@link #isHeardAfter} then reports. Does nothing if that is impossible,
     * or if an earlier probe is still unanswered.
     */
    default void probe() {}

    /**
     * Starts an attempt to connect if there is no connection and no attempt is running. The connection limits the rate
     * of such attempts, so this may be called often. Calls do not wait for the attempt.
     */
    default void connectSoon() {}

    /**
     * The time until the connection starts its next attempt to connect by itself.
     *
     * @return in nanoseconds; negative if no attempt is planned, or if this is not known
     */
    default long untilNextAttemptNanos() {
        return -1;
    }

    /** Fails pending calls and stops connecting. */
    @Override
    void close();
}
