package tern.rpc.transport;

import org.jspecify.annotations.Nullable;
import tern.rpc.CallHead;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.ServerContext;
import tern.rpc.limit.Share;

/**
 * One call as a transport received it. It is answered exactly once: the first of {@link #reply} and {@link #fail} wins
 * and the others do nothing. Thread-safe.
 */
public interface ServerCall extends ServerContext.Exchange {

    /** When the last byte of the request was read, on {@link System#nanoTime()}. */
    long receivedNanos();

    /** The name of its service, for transports that know it before the request is read; else null. */
    default @Nullable String service() {
        return null;
    }

    /** A method of the name that is called, for transports that know it before the request is read; else null. */
    default @Nullable MethodDescriptor namedMethod() {
        return null;
    }

    /** For transports that know it before the request is read; else none. */
    default Deadline deadline() {
        return Deadline.none();
    }

    /** What its tenant, such as its connection, holds of the server; always the same; null when that does not matter. */
    default @Nullable Share share() {
        return null;
    }

    /**
     * Its caller has shown who he is and was let in; told only where that is asked for. Its connection need not be
     * treated like that of a stranger any more.
     */
    default void callerIsKnown() {
        // connections do not matter
    }

    /**
     * Reads the request; once, on a worker thread. Unless the admission is open it is asked first, when all that came
     * with the call is known and none of its arguments exists.
     *
     * @throws tern.rpc.RpcException if the call is not admitted, the service or method does not exist or the arguments
     *     cannot be read
     */
    Invocation decode(ServiceLookup services, Admission admission);

    /** Lets a call pass or not. */
    interface Admission {

        /** Whether every call passes unseen. */
        boolean isOpen();

        /** @throws tern.rpc.RpcException if it does not pass, and then nothing more of it may be read */
        void admit(CallHead call);
    }

    /**
     * The messages of a streaming call. Of one that takes a single request, {@link #decode} reads that and only answers
     * go through here; of one that takes many, {@code decode} gives an invocation without arguments.
     *
     * @throws IllegalStateException for a call with one message each way
     */
    default MessageStream stream() {
        throw new IllegalStateException("not a streaming call");
    }

    /** Encodes the answer on the calling thread and queues it; of a streaming call, whose answers were sent, only the end. */
    void reply(Response response);

    /**
     * Answers with an exception, encoded on the calling thread. An {@link tern.rpc.RpcException} becomes a status of
     * the protocol, any other a typed exception.
     */
    void fail(Throwable failure, Metadata metadata);

    /** Whether an answer is still wanted. */
    boolean isOpen();

    /** Replaces the watcher and its time. */
    void watch(long untilNanos, Watcher watcher);

    /** Told, on an event loop, when a call takes too long or its peer is gone. Must not block. */
    interface Watcher {
        void expired();

        void disconnected();
    }
}
