package tern.rpc.endpoint;

import java.util.List;
import java.util.function.Consumer;

/**
 * Finds the providers of a service and watches for changes until it is closed. Static lists, DNS and registries
 * implement this interface.
 *
 * <p>References whose sources have equal {@linkplain #key() keys} share one source. The client starts only the first of
 * these sources. When the last of these references is closed, the client closes this source. Therefore a source must
 * not acquire resources before {@link #start}.
 *
 * <p>A source reports its list unchanged. The client coalesces frequent changes. If the list is empty or lacks most of
 * the previous providers, the client continues to use the missing providers while they answer.
 */
public interface EndpointSource extends AutoCloseable {

    /**
     * Starts watching for changes. Called once. The source passes a complete snapshot to the listener after every
     * change. If the list is available immediately, the source may pass the first snapshot during this call. The source
     * may call the listener on any thread, but must pass one snapshot at a time and in the order of the changes. The
     * listener must return quickly. Passing equal snapshots repeatedly is allowed, but a source should avoid it.
     *
     * @throws RuntimeException if the settings are invalid. If the source is unreachable, this method does not throw;
     *     the source reports {@link EndpointSnapshot.State#UNKNOWN} and tries again
     */
    void start(Consumer<EndpointSnapshot> listener);

    /**
     * Repeats the lookup soon. Called when no endpoint answers. Any thread may call this method. Frequent calls are
     * allowed, because the source limits the rate of its lookups. Does not block.
     */
    default void refresh() {}

    /**
     * Identifies the list that this source watches, for example by the address of a registry and the name of a service.
     * Sources with equal keys are interchangeable. By default, the key is the source itself, so the source is not
     * shared.
     */
    default Object key() {
        return this;
    }

    /**
     * Reads rules that an earlier process has stored.
     *
     * @param texts the {@linkplain Rules#texts texts} of rules of this source
     * @throws RuntimeException if a text cannot be read
     */
    default Rules rules(List<String> texts) {
        return Rules.NONE;
    }

    /**
     * Returns advice for error messages of calls that reach no provider, for example {@code "; look at …"}. Returns an
     * empty string if there is no advice, which is the default.
     */
    default String advice() {
        return "";
    }

    /** Returns the name of the source for logs and error messages, such as {@code 10.0.0.7:20880, 10.0.0.8:20880}. */
    @Override
    String toString();

    /** Stops watching. Does not block. The source may still call the listener once after this method has returned. */
    @Override
    default void close() {}
}
