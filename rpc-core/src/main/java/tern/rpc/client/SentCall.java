package tern.rpc.client;

import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/** A call that passed the filters and was sent. It may have several attempts. Any thread may use it. */
interface SentCall {

    /** Ends the call, because the caller gave up. Does nothing if the call has already ended. */
    void cancel();

    /**
     * Ends the call, because the caller noticed the deadline before the connection did. The filters see the failure and
     * may replace it.
     */
    void expire();

    /** The last address that the call was sent to, for messages; null if there is none yet. */
    @Nullable
    Endpoint endpoint();
}
