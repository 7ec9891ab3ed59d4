package tern.rpc.client;

import java.util.concurrent.Executor;

/** Where the stages of one call around filters complete, and through which the call behind them can be cancelled. */
interface CallScope extends Executor {

    /** The filters passed the call on: it is cancelled when the caller gives up, at once if it has. */
    void passedOn(AsyncCall call);
}
