package tern.rpc.client;

import java.util.concurrent.Executor;

/** Runs the callbacks of one call. After the filters have passed the call on, its caller can cancel it. */
interface CallScope extends Executor {

    /**
     * Called when the filters have passed the call on. The call is cancelled when its caller gives up, or immediately
     * if the caller has already given up.
     */
    void passedOn(SentCall call);
}
