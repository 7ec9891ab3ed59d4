package tern.rpc.transport;

import tern.rpc.ServiceDescriptor;

/** Accepts calls. Started once, drained, closed, in this order. */
public interface ServerTransport extends AutoCloseable {

    /**
     * Prepares for the types of a service; before {@link #start}.
     *
     * @throws IllegalArgumentException if one of them cannot travel
     */
    void prepare(ServiceDescriptor service);

    /**
     * Begins to accept.
     *
     * @throws java.io.UncheckedIOException if the port cannot be bound; the cause is the system's own
     */
    void start(CallHandler handler);

    /** The port that was bound, or 0 when there is none. */
    int port();

    /** Accepts no more connections and tells callers to send no new calls; those that come all the same are served. */
    void drain();

    /** How many peers are connected. */
    int connections();

    /** Calls received since the beginning. */
    long received();

    /** Calls received and not answered yet. */
    int inFlight();

    /** Bytes of answers that the sockets have not taken yet. */
    long queuedBytes();

    /** Bytes of requests that are not complete or that no worker has read yet, and of headers of open requests. */
    default long inboundBytes() {
        return 0;
    }

    /** Bytes of answers that clients have not taken, their windows or their sockets being full. */
    default long unsentBytes() {
        return 0;
    }

    /** Streams since the beginning that could be sent and did not move for 10 s, which only a defect can cause. */
    default long stalledStreams() {
        return 0;
    }

    /** Closes every connection; what is still running is cancelled. */
    @Override
    void close();
}
