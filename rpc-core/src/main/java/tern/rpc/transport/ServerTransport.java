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
     * Starts to accept calls.
     *
     * @throws java.io.UncheckedIOException if the port cannot be bound; its cause is the exception of the operating
     *     system
     */
    void start(CallHandler handler);

    /** The port on which the transport listens; 0 if it has no port. */
    int port();

    /** Stops accepting connections and tells clients to stop sending calls. Calls that still arrive are served. */
    void drain();

    /** The number of connected clients. */
    int connections();

    /** The number of calls received since the start. */
    long received();

    /** The number of calls that have not been answered. */
    int inFlight();

    /** The number of answer bytes that wait to be written to sockets. */
    long queuedBytes();

    /**
     * The number of request bytes that are incomplete or wait for a worker, including the headers of open requests.
     */
    default long inboundBytes() {
        return 0;
    }

    /**
     * The number of answer bytes that clients have not accepted, because their flow-control windows or sockets are
     * full.
     */
    default long unsentBytes() {
        return 0;
    }

    /**
     * The number of streams that were ready to send but made no progress for 10 s. A value above zero indicates a bug
     * in Tern.
     */
    default long stalledStreams() {
        return 0;
    }

    /** Closes every connection and cancels running calls. */
    @Override
    void close();
}
