package tern.rpc.endpoint;

import java.util.List;
import java.util.function.Consumer;

/** Finds the endpoints of a service and goes on looking until it is closed. */
public interface EndpointResolver extends AutoCloseable {

    /**
     * Begins. The listener is told the complete list whenever it changes, first during this call if that needs no
     * waiting; on any thread, one at a time. An empty list means that there is no provider at present.
     */
    void start(Consumer<List<Endpoint>> listener);

    /** Hint that none of the endpoints answers: look again soon. Does not block. */
    default void refresh() {}

    /** For messages: where this resolver looks, such as {@code 10.0.0.7:20880, 10.0.0.8:20880}. */
    @Override
    String toString();

    @Override
    default void close() {}
}
