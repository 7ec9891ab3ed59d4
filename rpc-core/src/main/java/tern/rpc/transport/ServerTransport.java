package tern.rpc.transport;

import tern.rpc.ServiceDescriptor;

/** Accepts calls. It is started once, then drained, then closed. */
public interface ServerTransport extends AutoCloseable {

    /**
     * Prepares the types of a service. Called before {@link #start}.
     *
     * @throws IllegalArgumentException if a type cannot be sent
     */
    void prepare(ServiceDescriptor service);

    /**
     * Starts to accept calls.
     *
     * @throws java.io.UncheckedIOException if the port cannot be bound; the cause is the exception of the system
     */
    void start(CallHandler handler);

    /** The bound port, or 0 if there is none. */
    int port();

    /** Stops accepting connections and asks callers to send no further calls. Calls that still arrive are served. */
    void drain();

    /** The number of connected clients. */
    int connections();

    /** The number of calls received since the start. */
    long received();

    /** The number of calls that have no answer yet. */
    int inFlight();

    /** The bytes of answers that wait for the sockets. */
    long queuedBytes();

    /** The size of requests that are incomplete or wait for a worker, and of the headers of open requests. */
    default long inboundBytes() {
        return 0;
    }

    /** The size of answers that clients have not taken, because their windows or sockets are full. */
    default long unsentBytes() {
        return 0;
    }

    /** The number of streams that were ready to send but made no progress for 10 s. Only a defect can cause this. */
    default long stalledStreams() {
        return 0;
    }

    /** Closes every connection and cancels running calls. */
    @Override
    void close();
}
