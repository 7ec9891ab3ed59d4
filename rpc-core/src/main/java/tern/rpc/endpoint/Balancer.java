package tern.rpc.endpoint;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the provider of each attempt of a call. Many threads call it at once. It must not block, and it should
 * allocate nothing and take no time that grows with the number of providers.
 */
public interface Balancer {

    /** Creates a balancer for one set of providers. */
    @FunctionalInterface
    interface Factory {

        /**
         * Called again whenever the set or the attributes change. A provider that remains in the set is the same object
         * as before.
         *
         * @param candidates not empty, in an order that is stable and equal for clients with the same list
         */
        Balancer of(List<Candidate> candidates);
    }

    /**
     * Chooses a provider.
     *
     * @param key the hash of the call's key; 0 if the call has none
     * @param excluded the provider of the previous attempt, which failed; null at the first attempt
     * @param nowNanos the time on the client's clock
     * @return null if no provider is {@linkplain Candidate#isUsable() usable} except the excluded one. The client then
     *     looks for a provider that is avoided or being connected
     */
    @Nullable
    Candidate pick(long key, @Nullable Candidate excluded, long nowNanos);

    /**
     * Called when an attempt has ended. The figures of {@link Candidate} already contain it. Default: does nothing.
     *
     * @param tookNanos the time since the attempt was sent
     */
    default void ended(Candidate picked, Outcome outcome, long tookNanos) {}
}
