package tern.rpc.server;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.Thrown;
import tern.rpc.transport.TimeOuts;

/** Creates the exceptions for calls that the server ends itself. */
final class ServedFailures {

    /**
     * A cancellation that arrives less than this time before the deadline is treated as an expired deadline, because
     * the clocks of client and server differ.
     */
    private static final long EARLY_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private ServedFailures() {}

    /**
     * Returns the failure of a call whose request cannot be decoded. A method runs only after its request has been
     * decoded. The result therefore says that the method did not run. The reader's failures may say MAYBE, because the
     * reader does not know whether it decodes a request or an answer.
     */
    static RpcException unreadable(Throwable cause) {
        if (cause instanceof RpcException known) {
            return known.wasExecuted() == Executed.MAYBE
                    ? RpcException.refusal(known.status(), Executed.NO, known.metadata())
                    : known;
        }
        return new RpcException(
                StatusCode.INTERNAL, "the request could not be read: " + Thrown.text(cause), Executed.NO, cause);
    }

    /** Returns the failure of a call that its transport has not admitted. */
    static RpcException notAdmitted(Invocation call) {
        return new RpcException(StatusCode.INTERNAL, call + " arrived without having been admitted", Executed.NO, null);
    }

    static RpcException lateInQueue(Invocation call) {
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                call + ": the deadline passed while the call waited for a worker; it was not run",
                Executed.NO);
    }

    static RpcException notStarted(MethodDescriptor method, Executed executed, Throwable cause) {
        return new RpcException(
                StatusCode.INTERNAL,
                method + " could not be started: " + cause.getClass().getName(),
                executed,
                cause);
    }

    /** Returns the failure of a call whose answer cannot be sent. */
    static RpcException unanswerable(MethodDescriptor method, Throwable cause) {
        return cause instanceof RpcException known
                ? known
                : new RpcException(
                        StatusCode.INTERNAL,
                        method + " could not be answered: " + cause.getClass().getName(),
                        Executed.YES,
                        cause);
    }

    /** Returns the failure of a stream that ended because no thread became free for its callbacks. */
    static RpcException noThread(String name, int threads) {
        return RpcException.refusal(
                StatusCode.RESOURCE_EXHAUSTED,
                name + " was ended: no thread was free for its messages for 10 s or more, because all " + threads
                        + " threads for streams wait in callbacks (set by rpc.server.threads)",
                Executed.MAYBE);
    }

    /** Returns the failure of a call whose deadline has passed while its method was running. */
    static RpcException stillRunning(String name, long nanos) {
        return RpcException.refusal(
                StatusCode.DEADLINE_EXCEEDED,
                TimeOuts.stillRunning(name, TimeUnit.NANOSECONDS.toMillis(nanos)),
                Executed.MAYBE);
    }

    /**
     * Returns the failure of a call whose caller has stopped waiting. The code is DEADLINE_EXCEEDED if the deadline has
     * passed or is about to pass, because the caller's clock could be slightly ahead. Otherwise the code is CANCELLED.
     *
     * @param serving the call's context; null if the call has no context yet
     * @param tookNanos the time since the call was received
     */
    static RpcException callerIsGone(String name, @Nullable ServerContext serving, long now, long tookNanos) {
        return serving != null && serving.deadline().remainingNanos(now) <= EARLY_NANOS
                ? stillRunning(name, tookNanos)
                : RpcException.refusal(StatusCode.CANCELLED, name + ": the caller is gone", Executed.MAYBE);
    }

    /** Returns the exception for a method that tries to send messages on a stream whose call has ended. */
    static RpcException endedAlready(MethodDescriptor method) {
        return RpcException.refusal(StatusCode.CANCELLED, method + ": the call has ended already", Executed.YES);
    }
}
