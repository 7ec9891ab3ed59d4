package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/** A call behind the filters that was sent and may have several attempts. Any thread may use it. */
interface SentCall {

    /** Ends the call, because the caller gave it up. Does nothing if it has ended. */
    void cancel();

    /**
     * Ends the call because the caller noticed the deadline before the connection did. The filters decide about the
     * failure.
     */
    void expire();

    /** The last address of the call, for messages; null if there is none yet. */
    @Nullable
    Endpoint endpoint();
}
