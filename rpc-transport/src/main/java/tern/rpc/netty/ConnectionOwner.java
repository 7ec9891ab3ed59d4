package tern.rpc.netty;

import org.jspecify.annotations.Nullable;

/** Receives the events of a connection, on its event loop. */
interface ConnectionOwner {
    void changed(Connection connection, Connection.State state);

    /** Called when the first bytes from the server have been read. */
    default void heardFirst(Connection connection) {}

    /** Called when the connection is ready for the next call, if it transmits one call at a time. */
    default void released(Connection connection) {}

    /**
     * Called when calls have waited for a while because the server accepts no more concurrent calls on their
     * connection.
     *
     * @return how many of the waiting calls another connection can serve now
     */
    default int relief(Connection crowded) {
        return 0;
    }

    /** Returns the connection that replaces the given connection; null if there is no replacement. */
    default @Nullable Connection insteadOf(Connection connection) {
        return null;
    }
}
