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
     * Whether calls should go elsewhere if they can: the provider is silent although it has calls to answer, or it was
     * ejected because its calls failed.
     *
     * @param nowNanos the time on the client's clock
     */
    boolean isAvoided(long nowNanos);

    /** The number of calls and streams without an end. */
    int inFlight();

    /**
     * The load of the provider: calls in flight, weighed by its response time. Less is better. An idle provider with
     * the usual response time has 1.
     *
     * @param nowNanos the time on the client's clock
     */
    double score(long nowNanos);
}
