package tern.rpc.client;

import java.util.concurrent.Executor;

/** Completes the stages of one call around filters, and cancels the call behind them. */
interface CallScope extends Executor {

    /**
     * Called when the filters have passed the call on. The call is cancelled when the caller gives up, or at once if it
     * has already done so.
     */
    void passedOn(SentCall call);
}
