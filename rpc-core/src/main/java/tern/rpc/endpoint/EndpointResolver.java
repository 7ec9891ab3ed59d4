package tern.rpc.endpoint;

import java.util.List;
import java.util.function.Consumer;

/** Finds the endpoints of a service and watches for changes until it is closed. */
public interface EndpointResolver extends AutoCloseable {

    /**
     * Starts to look. The listener gets the complete list whenever it changes, and during this call if no wait is
     * needed. It runs on any thread, one call at a time. An empty list means that there is no provider at present.
     */
    void start(Consumer<List<Endpoint>> listener);

    /** Asks for a new look-up soon, because no endpoint answers. Does not block. */
    default void refresh() {}

    /** The source of the endpoints, for messages, such as {@code 10.0.0.7:20880, 10.0.0.8:20880}. */
    @Override
    String toString();

    @Override
    default void close() {}
}
