package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/**
 * A call that has passed through the filters and has been sent. The call can consist of several attempts. Thread-safe.
 */
interface SentCall {

    /** Cancels the call because its caller gave up. Does nothing if the call has already ended. */
    void cancel();

    /**
     * Fails the call, because its caller noticed the deadline earlier than the connection. The filters see this failure
     * and may replace it.
     */
    void expire();

    /**
     * Returns the address that the call was last sent to, for error messages, or null if the call has not been sent.
     */
    @Nullable
    Endpoint endpoint();
}
