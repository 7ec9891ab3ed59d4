package tern.rpc.load.cluster;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A framework under test: servers of nodes, and clients that choose among them. */
interface Framework extends AutoCloseable {

    /** The time-out of a call. */
    int TIMEOUT_MILLIS = 1_000;

    /** One client, which knows of the nodes only what its own calls show. */
    @FunctionalInterface
    interface Client {

        /** Makes a call without waiting. The end is called with the failure, or with null. */
        void call(int number, Consumer<@Nullable Throwable> end);
    }

    /** Serves a node on all addresses of this host at the port. */
    void serve(Station station, int port) throws Exception;

    /**
     * Opens a client.
     *
     * @param policy the name of a load balancer in the terms of the framework
     */
    Client connect(List<InetSocketAddress> nodes, String policy);

    @Override
    void close();
}
