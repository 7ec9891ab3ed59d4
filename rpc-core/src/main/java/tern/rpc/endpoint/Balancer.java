package tern.rpc.endpoint;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a provider for each attempt of a call. Many threads use a balancer concurrently. A balancer must not block,
 * should not allocate memory, and should not become slower as the number of providers grows.
 */
public interface Balancer {

    /** Creates a balancer for one set of providers. */
    @FunctionalInterface
    interface Factory {

        /**
         * Creates the balancer. Called again whenever the set or the attributes change. A provider that remains in the
         * set is represented by the same object as before.
         *
         * @param candidates the providers; not empty, in a stable order that is the same for all clients with the same
         *     list
         */
        Balancer of(List<Candidate> candidates);
    }

    /**
     * Chooses a provider.
     *
     * @param key the hash of the call's key, or 0 if the call has no key
     * @param excluded the provider of the previous attempt, which failed, or null for the first attempt
     * @param nowNanos the time on the client's clock
     * @return the provider; null if no provider other than the excluded provider is {@linkplain Candidate#isUsable()
     *     usable}. The client then chooses a provider that it avoids or is still connecting to
     */
    @Nullable
    Candidate pick(long key, @Nullable Candidate excluded, long nowNanos);

    /**
     * Called when an attempt has ended. The values of {@link Candidate} already include the attempt. By default, this
     * method does nothing.
     *
     * @param tookNanos the time since the attempt was sent
     */
    default void ended(Candidate picked, Outcome outcome, long tookNanos) {}
}
