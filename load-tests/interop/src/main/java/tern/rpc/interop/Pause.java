package tern.rpc.interop;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;

/** Blocks the thread that serves a call until a given time has passed or the call is cancelled. */
final class Pause {

    private final CountDownLatch cancelled = new CountDownLatch(1);

    Pause(ServerContext context) {
        context.onCancel(cancelled::countDown);
    }

    /**
     * Blocks until the time has passed.
     *
     * @throws RpcException if the call is cancelled
     */
    void micros(long micros) {
        try {
            if (micros > 0 && cancelled.await(micros, TimeUnit.MICROSECONDS)) {
                throw RpcException.refusal(StatusCode.CANCELLED, "cancelled while waiting", RpcException.Executed.YES);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RpcException(StatusCode.CANCELLED, "interrupted while waiting");
        }
    }
}
