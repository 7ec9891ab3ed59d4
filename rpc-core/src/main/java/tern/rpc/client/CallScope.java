package tern.rpc.client;

import java.util.concurrent.Executor;

/** Runs the callbacks of one call. Once the filters have passed the call on, the caller can cancel it. */
interface CallScope extends Executor {

    /**
     * Called when the filters have passed the call on. From then on, the call is cancelled when its caller gives up. It
     * is cancelled immediately if the caller has already given up.
     */
    void passedOn(SentCall call);

    /** Called when the filters have received the answer or the failure of the call. */
    default void answered() {
        // Does nothing by default, because a blocked caller checks the deadline itself.
    }
}
