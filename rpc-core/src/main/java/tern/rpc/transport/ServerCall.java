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
 * One call that a transport has received. A call is answered exactly once: only the first call to {@link #reply} or
 * {@link #fail} has an effect. Thread-safe.
 */
public interface ServerCall extends ServerContext.Exchange {

    /** Returns the time when the last byte of the request was read, on the clock of {@link System#nanoTime()}. */
    long receivedNanos();

    /** Returns the service name, or null if it is unknown before the request is decoded. */
    default @Nullable String service() {
        return null;
    }

    /**
     * Returns a method with the same name as the called method (possibly another overload), or null if the method is
     * unknown before the request is decoded.
     */
    default @Nullable MethodDescriptor namedMethod() {
        return null;
    }

    /**
     * Works like {@link #namedMethod}, but may also read the first bytes of the request to find the method. Called only
     * before the call is passed to a worker, and only if all workers are busy.
     */
    default @Nullable MethodDescriptor peekMethod(ServiceLookup services) {
        return namedMethod();
    }

    /**
     * Returns the approximate size of the undecoded request in bytes; Integer.MAX_VALUE if it is compressed, and 0 if
     * the size is unknown.
     */
    default int requestBytes() {
        return 0;
    }

    /**
     * Returns the call's deadline, or {@link Deadline#none()} if the deadline is unknown before the request is decoded.
     */
    default Deadline deadline() {
        return Deadline.none();
    }

    /**
     * Returns the object that counts the calls from this call's tenant, or null if the transport does not distinguish
     * tenants. For example, the tenant can be a connection. The result is always the same object.
     */
    default @Nullable Share share() {
        return null;
    }

    /**
     * Called when the caller has passed the required authentication. The limits for unknown callers then no longer
     * apply to the connection.
     */
    default void callerIsKnown() {
        // Does nothing by default, for transports whose limits do not depend on authentication.
    }

    /**
     * Decodes the request. Called once, on a worker thread. Unless the admission is open, the transport calls
     * {@link Admission#admit} as soon as it knows the service, method, metadata and caller. The transport must not
     * create any argument before that.
     *
     * @throws tern.rpc.RpcException if the call is not admitted, the service or method does not exist, or the arguments
     *     cannot be decoded
     */
    Invocation decode(ServiceLookup services, Admission admission);

    /** Decides whether a call may run. */
    interface Admission {

        /** Returns whether every call is admitted without a check. */
        boolean isOpen();

        /**
         * Checks the call.
         *
         * @throws tern.rpc.RpcException if the call is refused; the transport must then stop decoding the call
         */
        void admit(CallHead call);
    }

    /**
     * Returns the messages of a streaming call. If the call takes a single request, {@link #decode} returns this
     * request, and the stream carries only the answers. If the call takes a stream of requests, {@code decode} returns
     * an invocation without arguments.
     *
     * @throws IllegalStateException for a unary call
     */
    default MessageStream stream() {
        throw new IllegalStateException("not a streaming call");
    }

    /**
     * Encodes the answer on the calling thread and queues it. For a streaming call, this method sends only the end,
     * because the answers have already been sent.
     */
    void reply(Response response);

    /**
     * Answers with an exception, which is encoded on the calling thread. An {@link tern.rpc.RpcException} is sent as a
     * protocol status. Any other exception is sent with its type.
     */
    void fail(Throwable failure, Metadata metadata);

    /**
     * Called on the thread that ended the call, after the call has been answered and counted. Not called if the call
     * was refused or its request could not be decoded. Must neither block nor throw.
     *
     * @param ledger the times of the call; {@link CallLedger#none()} if no ledgers are kept
     * @param tookNanos the time since the call was received
     * @param now the current time on the clock that times the calls
     */
    default void counted(CallLedger ledger, long tookNanos, long now) {
        // Does nothing by default, because most protocols do not send the times of a call.
    }

    /** Returns whether the caller waits for an answer; false for a one-way call. */
    default boolean expectsAnswer() {
        return true;
    }

    /** Returns whether the caller is still waiting for an answer. */
    boolean isOpen();

    /** Sets the watcher of the call, and the time when {@link Watcher#expired} is called. */
    void watch(long untilNanos, Watcher watcher);

    /**
     * A callback that is notified of the call's deadline and of the loss of the client's connection. Called on an event
     * loop. Must not block.
     */
    interface Watcher {
        void expired();

        void disconnected();
    }
}
