package tern.rpc.transport;

import java.util.function.Consumer;
import tern.rpc.endpoint.Endpoint;

/**
 * The connection to one endpoint. The connection is opened in the background. After every loss, it is opened again,
 * until it is closed. Thread-safe. No method blocks.
 */
public interface ClientConnection extends AutoCloseable {

    Endpoint endpoint();

    /** Returns whether calls are sent immediately. The method only reads a flag. */
    boolean isAvailable();

    /**
     * Returns how many times this connection has become available. If the number changes between two calls, the
     * connection was lost, so the server may now be a different process. The result is always 0 if the server cannot
     * change.
     */
    default long timesAvailable() {
        return 0;
    }

    /** Returns whether an attempt to connect is in progress. Calls wait for this attempt. */
    boolean isConnecting();

    /**
     * Returns the reason why the last attempt to connect failed or the connection was lost, or an empty string if there
     * was no failure.
     */
    String lastFailure();

    /** Returns the number of calls that have not been answered. */
    int inFlight();

    /** Returns the number of request bytes waiting to be written to sockets. */
    long queuedBytes();

    /** Returns the number of answers that arrived after their calls had ended, since this connection was created. */
    long lateAnswers();

    /**
     * Encodes the request on the calling thread and queues it. If the caller blocks in {@link PendingCall#await}, its
     * thread may send the request itself. The pending call completes exactly once: with an answer, at its deadline, or
     * with a failure.
     */
    void send(PendingCall call);

    /**
     * Starts a streaming call. If the method takes a single request, the arguments of the call are sent as this
     * request; otherwise the caller sends the requests. At the end of the call, the pending call completes with a
     * failure or, after the last message, with an answer without a value. The caller may fail the pending call at any
     * time, even before this method returns. The stream then also ends at the server. Messages and the end of the
     * stream are delivered in order on the event loop. The pending call's {@link PendingCall.Completion} runs on its
     * executor.
     *
     * @throws tern.rpc.RpcException if the stream cannot be opened; the pending call then does not complete.
     *     UNIMPLEMENTED if the protocol has no streams
     */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver);

    /**
     * Returns whether the server has sent any bytes on this connection, or true if this is unknown. A server that has
     * accepted the connection but has never sent anything may be frozen.
     */
    default boolean wasHeard() {
        return true;
    }

    /**
     * Returns whether bytes have arrived from the server since the given time.
     *
     * @param nanos a time on the clock of {@link System#nanoTime()}
     * @return false if this is unknown
     */
    default boolean isHeardAfter(long nanos) {
        return false;
    }

    /**
     * Sends a ping to the server, so that {@link #isHeardAfter} shows whether the server is alive. Does nothing if the
     * protocol has no ping, or if an earlier ping has not been answered.
     */
    default void probe() {}

    /**
     * Returns the maximum additional time, in nanoseconds, that a {@linkplain #probe ping} to a live server takes if
     * the ping needs a new connection. Returns 0 if pings use the open connection.
     */
    default long pingDelayNanos() {
        return 0;
    }

    /**
     * Passes the calls that are waiting for an answer to the action, which may fail them. Does nothing on a transport
     * whose servers cannot become silent.
     */
    default void forEachWaiting(Consumer<PendingCall> action) {}

    /**
     * Starts an attempt to connect if there is no connection and no attempt is in progress. The rate of these attempts
     * is limited, so this method may be called often. Calls do not wait for this attempt.
     */
    default void connectSoon() {}

    /**
     * Returns the time until the connection's next automatic attempt to connect.
     *
     * @return the time in nanoseconds, or a negative number if no attempt is planned or the time is unknown
     */
    default long untilNextAttemptNanos() {
        return -1;
    }

    /** Fails pending calls and closes the connection permanently. */
    @Override
    void close();
}
