package tern.rpc.load.cluster;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A framework under test: servers of nodes, and clients that choose among them. */
interface Framework extends AutoCloseable {

    /** The timeout of a call. */
    int TIMEOUT_MILLIS = 1_000;

    /** One client. It knows about the nodes only what it learns from its own calls. */
    @FunctionalInterface
    interface Client {

        /** Starts a call without waiting. The end is called with the failure, or with null after a success. */
        void call(int number, Consumer<@Nullable Throwable> end);
    }

    /** Serves a node at this port on all addresses of this host. */
    void serve(Station station, int port) throws Exception;

    /**
     * Opens a client.
     *
     * @param policy the name of a load balancer in that framework
     */
    Client connect(List<InetSocketAddress> nodes, String policy);

    @Override
    void close();
}
