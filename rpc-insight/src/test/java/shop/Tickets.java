package shop;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;

/** Application code that creates exceptions. The tests expect its frames in stack traces. */
public final class Tickets {

    private Tickets() {}

    public static RejectedExecutionException rejected(String message) {
        return new RejectedExecutionException(message);
    }

    public static TimeoutException gaveUp() {
        return new TimeoutException();
    }

    /** Parks the current thread for an hour, or until it is interrupted. */
    public static void pause() {
        LockSupport.parkNanos(TimeUnit.HOURS.toNanos(1));
    }

    public static RpcException soldOut() {
        return new RpcException(StatusCode.UNAVAILABLE, "sold out");
    }

    /** The application's own exception for a peer that it does not call for a while. */
    public static final class CarrierOff extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    public static CarrierOff carrierOff() {
        return new CarrierOff();
    }
}
