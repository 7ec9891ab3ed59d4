package tern.rpc.client;

import java.util.concurrent.Executor;

/** Completes the stages of one call around filters, and cancels the call behind them. */
interface CallScope extends Executor {

    /** The filters passed the call on. It is cancelled when the caller gives up, or at once if it already has. */
    void passedOn(SentCall call);
}
