package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.CallLedger;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.ServerContext;
import tern.rpc.limit.Share;

/**
 * One call received by a transport. It is answered exactly once: only the first call of {@link #reply} or {@link #fail}
 * has an effect. Thread-safe.
 */
public interface ServerCall extends ServerContext.Exchange {

    /** The time at which the last byte of the request was read, on the clock of {@link System#nanoTime()}. */
    long receivedNanos();

    /** The name of the service; null if the transport does not know it before the request is decoded. */
    default @Nullable String service() {
        return null;
    }

    /** A method with the called name; null if the transport does not know it before the request is decoded. */
    default @Nullable MethodDescriptor namedMethod() {
        return null;
    }

    /** The deadline; none if the transport does not know it before the request is decoded. */
    default Deadline deadline() {
        return Deadline.none();
    }

    /**
     * The share of the call's tenant, such as its connection. Always returns the same object; null if tenants do not
     * matter.
     */
    default @Nullable Share share() {
        return null;
    }

    /**
     * Called when the caller has been authenticated and admitted, if authentication is required. The limits for unknown
     * callers then no longer apply to the connection.
     */
    default void callerIsKnown() {
        // nothing to do if connections do not matter
    }

    /**
     * Decodes the request, once, on a worker thread. Unless the admission is open, it is asked after the head of the
     * call is known and before any argument is created.
     *
     * @throws tern.rpc.RpcException if the call is not admitted, the service or method does not exist, or the arguments
     *     cannot be decoded
     */
    Invocation decode(ServiceLookup services, Admission admission);

    /** Admits or refuses a call. */
    interface Admission {

        /** Whether every call is admitted without a check. */
        boolean isOpen();

        /**
         * Admits the call.
         *
         * @throws tern.rpc.RpcException if the call is refused; the rest of the call must then not be decoded
         */
        void admit(CallHead call);
    }

    /**
     * The messages of a streaming call. If the call takes a single request, {@link #decode} returns it, and this stream
     * carries only the answers. If it takes many requests, {@code decode} returns an invocation without arguments.
     *
     * @throws IllegalStateException for a unary call
     */
    default MessageStream stream() {
        throw new IllegalStateException("not a streaming call");
    }

    /**
     * Encodes the answer on the calling thread and queues it. For a streaming call, whose answers have already been
     * sent, only the end is sent.
     */
    void reply(Response response);

    /**
     * Answers with an exception, encoded on the calling thread. An {@link tern.rpc.RpcException} becomes a status of
     * the protocol; any other exception is sent with its type.
     */
    void fail(Throwable failure, Metadata metadata);

    /**
     * Called after an ended call was counted, on the thread that ended it. The call was answered before. Not called for
     * a call that was refused or whose request could not be decoded. Must neither block nor throw.
     *
     * @param ledger the times of the call; {@link CallLedger#none()} if no ledgers are kept
     * @param tookNanos the time since the call was received
     * @param now the current time on the clock of the calls
     */
    default void counted(CallLedger ledger, long tookNanos, long now) {
        // most protocols send no times
    }

    /** Whether the caller still waits for an answer. */
    boolean isOpen();

    /** Sets the watcher of the call and the time at which it is informed. */
    void watch(long untilNanos, Watcher watcher);

    /** Called on an event loop when a call takes too long or its client disconnects. Must not block. */
    interface Watcher {
        void expired();

        void disconnected();
    }
}
