package tern.rpc.endpoint;

import java.util.function.Consumer;

/**
 * Finds the providers of a service and watches for changes until it is closed. Implemented by static lists, DNS and
 * registries.
 *
 * <p>References with sources of equal {@linkplain #key() keys} share one of them: the client starts the first one, and
 * closes it when the last such reference is closed. The others are never started. Therefore a source acquires nothing
 * before {@link #start}.
 *
 * <p>A source reports what it hears, without judgement. The client coalesces frequent changes, and keeps the last good
 * list if a source reports an empty or much shorter one while the missing providers still answer.
 */
public interface EndpointSource extends AutoCloseable {

    /**
     * Starts to look. Called once. The listener gets a complete snapshot whenever something changes, and during this
     * call if no wait is needed. It runs on any thread, one call at a time and in the order of the changes, and returns
     * quickly. A repeated snapshot is cheap but should be avoided.
     *
     * @throws RuntimeException if the settings are wrong. A source that is out of reach does not throw: it reports
     *     {@link EndpointSnapshot.State#UNKNOWN} and tries again
     */
    void start(Consumer<EndpointSnapshot> listener);

    /**
     * Asks for a new look-up soon, because no endpoint answers. Called often and from any thread, so the source limits
     * the rate itself. Does not block.
     */
    default void refresh() {}

    /**
     * Identifies what this source looks at, for example the address of a registry with a service. Sources with equal
     * keys are interchangeable. The default is the source itself, which is not shared with other sources.
     */
    default Object key() {
        return this;
    }

    /** The source in messages, such as {@code 10.0.0.7:20880, 10.0.0.8:20880}. */
    @Override
    String toString();

    /** Stops to look, without waiting. The listener may be called once more. */
    @Override
    default void close() {}
}
