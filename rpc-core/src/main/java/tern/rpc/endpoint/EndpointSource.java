package tern.rpc.endpoint;

import java.util.function.Consumer;

/**
 * Finds the providers of a service and watches for changes until it is closed. Implemented by static lists, DNS and
 * registries.
 *
 * <p>References whose sources have equal {@linkplain #key() keys} share one source. The client starts the first of
 * these sources, and closes it when the last such reference is closed. The others are never started. Therefore a source
 * must not acquire resources before {@link #start}.
 *
 * <p>A source reports its list as it is, without judging it. The client coalesces frequent changes, and keeps the last
 * good list if a source reports an empty or much shorter one while the missing providers still answer.
 */
public interface EndpointSource extends AutoCloseable {

    /**
     * Starts to watch. Called once. The listener gets a complete snapshot at every change, and also during this call if
     * no wait is needed. It runs on any thread, one call at a time and in the order of the changes, and returns
     * quickly. A repeated snapshot is cheap but should be avoided.
     *
     * @throws RuntimeException if the settings are wrong. An unreachable source does not throw, but reports {@link
     *     EndpointSnapshot.State#UNKNOWN} and tries again
     */
    void start(Consumer<EndpointSnapshot> listener);

    /**
     * Asks for a new look-up soon, because no endpoint answers. It may be called often and from any thread, so the
     * source limits the rate itself. Does not block.
     */
    default void refresh() {}

    /**
     * Identifies the list that this source watches, for example by the address of a registry and a service. Sources
     * with equal keys are interchangeable. The default is the source itself, which is not shared with other sources.
     */
    default Object key() {
        return this;
    }

    /** Names the source in messages, such as {@code 10.0.0.7:20880, 10.0.0.8:20880}. */
    @Override
    String toString();

    /** Stops watching, without waiting. The listener may be called once more. */
    @Override
    default void close() {}
}
