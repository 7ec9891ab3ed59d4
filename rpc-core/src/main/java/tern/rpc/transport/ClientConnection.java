package tern.rpc.transport;

import tern.rpc.endpoint.Endpoint;

/**
 * The way to one endpoint: it connects by itself, and again after every loss, until it is closed. Thread-safe; nothing
 * here blocks.
 */
public interface ClientConnection extends AutoCloseable {

    Endpoint endpoint();

    /** Whether calls are sent at once; a plain flag. */
    boolean isAvailable();

    /** Whether the first or the next attempt to connect is under way, so that calls wait for it. */
    boolean isConnecting();

    /** Why the last attempt failed or the connection was lost; empty when it was not. */
    String lastFailure();

    /** Calls sent and not answered yet. */
    int inFlight();

    /** Bytes of requests that the sockets have not taken yet. */
    long queuedBytes();

    /** Answers that came after their call had ended, since the beginning. */
    long lateAnswers();

    /**
     * Encodes the request on the calling thread and queues it, or keeps it for that thread to send when it waits
     * ({@link PendingCall#await}). Whatever happens, the pending call completes exactly
     * once: with an answer, at its deadline, or with a failure.
     */
    void send(PendingCall call);

    /**
     * Begins a streaming call. When the method takes one request, the arguments of the call are sent as it; else the
     * caller sends the requests. The pending call completes when the call is over: with an answer that has no value
     * after the last message, or with a failure; failing it ends the stream at the server too, even if it failed before
     * this method returned. Messages and the end are told in order on the event loop; the pending call's executor
     * decides where its completion runs.
     *
     * @throws tern.rpc.RpcException if the stream cannot be opened, and then the pending call does not complete;
     *     UNIMPLEMENTED if the protocol has no streams
     */
    ClientStream open(PendingCall call, ClientStream.Receiver receiver);

    /** Fails what is pending and stops connecting. */
    @Override
    void close();
}
