package tern.rpc.endpoint;

/**
 * A provider that a {@link Balancer} may choose. Its figures are shared by all references of a client that use the same
 * connection. Reading them is cheap and allocates nothing.
 */
public interface Candidate {

    Endpoint endpoint();

    /** The current attributes. */
    Attributes attributes();

    /** Whether a call can be sent at once: there is a connection, and the provider is not draining. */
    boolean isUsable();

    /**
     * Whether calls should prefer other providers, because this one does not answer pending calls or was ejected after
     * failures.
     *
     * @param nowNanos the time on the client's clock
     */
    boolean isAvoided(long nowNanos);

    /** The number of calls and streams that have not ended. */
    int inFlight();

    /**
     * The load of the provider: its calls in flight, weighted by its response time. Lower is better. The score of an
     * idle provider with the usual response time is 1.
     *
     * @param nowNanos the time on the client's clock
     */
    double score(long nowNanos);
}
