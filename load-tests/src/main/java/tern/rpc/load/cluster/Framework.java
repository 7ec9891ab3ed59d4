package tern.rpc.load.cluster;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A framework under test, with servers for the nodes and clients that choose among the nodes. */
interface Framework extends AutoCloseable {

    int TIMEOUT_MILLIS = 1_000;

    /** A client that uses the framework. A client learns the state of the nodes only from its own calls. */
    @FunctionalInterface
    interface Client {

        /**
         * Starts a call and returns immediately. When the call has ended, {@code end} receives the failure, or null if
         * the call succeeded.
         */
        void call(int number, Consumer<@Nullable Throwable> end);
    }

    /** Starts a node's server on the given port, on all addresses of the machine. */
    void serve(Station station, int port) throws Exception;

    /**
     * Opens a client.
     *
     * @param policy the framework's name for a load balancer
     */
    Client connect(List<InetSocketAddress> nodes, String policy);

    @Override
    void close();
}
