package tern.rpc.endpoint;

/**
 * A provider that a {@link Balancer} may choose. The measured values are shared by all references of a client that use
 * the same connection to the provider. Reading these values is cheap and allocates no memory.
 */
public interface Candidate {

    Endpoint endpoint();

    /** Returns the provider's current attributes. */
    Attributes attributes();

    /** Returns whether a call can be sent immediately: the provider is connected and not draining. */
    boolean isUsable();

    /**
     * Returns whether calls should prefer other providers, because this provider has stopped answering or has been
     * ejected after failures.
     *
     * @param nowNanos the time on the client's clock
     */
    boolean isAvoided(long nowNanos);

    /** Returns the number of calls and streams that have not ended. */
    int inFlight();

    /**
     * Returns the load of the provider: {@code (1 + calls in flight / relative weight) * relative response time}. Lower
     * is better. An idle provider with the usual response time has the score 1.
     *
     * @param nowNanos the time on the client's clock
     */
    double score(long nowNanos);
}
