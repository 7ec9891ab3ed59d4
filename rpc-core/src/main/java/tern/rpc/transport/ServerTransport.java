package tern.rpc.transport;

import tern.rpc.ServiceDescriptor;

/** Accepts calls. A transport is started once, then drained, then closed. */
public interface ServerTransport extends AutoCloseable {

    /**
     * Prepares the types of a service. Called before {@link #start}.
     *
     * @throws IllegalArgumentException if a type cannot be sent
     */
    void prepare(ServiceDescriptor service);

    /**
     * Starts accepting calls.
     *
     * @throws java.io.UncheckedIOException if the port cannot be bound; the cause is the operating system's exception
     */
    void start(CallHandler handler);

    /** Returns the port that the transport listens on, or 0 if the transport has no port. */
    int port();

    /** Stops accepting connections and asks clients to stop sending calls. Calls that still arrive are served. */
    void drain();

    /** Returns the number of connected clients. */
    int connections();

    /**
     * Returns the number of connections that clients have opened since the start, or -1 if the transport does not count
     * them. Connections that were closed immediately are included.
     */
    default long acceptedConnections() {
        return -1;
    }

    /**
     * Returns the number of connections that are about to end. On such a connection, the server has sent its last byte,
     * and is waiting until the client closes the connection.
     */
    default int endingConnections() {
        return 0;
    }

    /** Returns the number of calls received since the start. */
    long received();

    /** Returns the number of calls that have not been answered. */
    int inFlight();

    /** Returns the number of answer bytes waiting to be written to sockets. */
    long queuedBytes();

    /**
     * Returns the number of request bytes in memory. This includes incomplete requests, requests waiting for a worker,
     * and the headers of open requests.
     */
    default long inboundBytes() {
        return 0;
    }

    /**
     * Returns the number of answer bytes that clients have not accepted, because their flow-control windows or sockets
     * are full.
     */
    default long unsentBytes() {
        return 0;
    }

    /**
     * Returns the number of streams that could send data but have sent none for 10 s. A value above zero indicates a
     * bug in Tern.
     */
    default long stalledStreams() {
        return 0;
    }

    /** Closes every connection and cancels running calls. */
    @Override
    void close();
}
