package tern.rpc.client;

import java.util.concurrent.Executor;

/**
 * Runs the callbacks of one call. The client notifies this object when the filters have passed the call on, and when
 * the filters have received the answer.
 */
interface CallScope extends Executor {

    /**
     * Called when the filters have passed the call on. The implementation cancels the call when the caller gives up. If
     * the caller has already given up, the implementation cancels the call immediately.
     */
    void passedOn(SentCall call);

    /** Called when the filters have received the answer or the failure of the call. */
    default void answered() {
        // Does nothing by default, because a caller that blocks checks the deadline itself and needs no notification.
    }
}
