package tern.rpc.server;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.Metadata;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.SeldomWarning;
import tern.rpc.ServerContext;
import tern.rpc.transport.ServerCall;

/** Answers a call whose method or filters have failed. Thread-safe. */
final class FailedAnswer {

    /** The protocol of JSON calls. Answers of this protocol contain no exception classes. */
    private static final String JSON = "http";

    private static final Logger LOG = LoggerFactory.getLogger(FailedAnswer.class);

    private static final SeldomWarning UNSENT_HEADERS = new SeldomWarning(LOG, NanoClock.SYSTEM);

    private FailedAnswer() {}

    /**
     * Answers the call.
     *
     * @param serving the call's context; null if the call has failed before its context was created
     * @return the failure that was sent
     */
    static Throwable send(ServerCall call, MethodHandler found, @Nullable ServerContext serving, Throwable cause) {
        // if a filter fails after the method has run, the failure must say that the method ran
        Throwable afterMethod =
                serving != null && serving.hasMethodBegun() ? found.last().ran(cause) : cause;
        Throwable outgoing = found.outgoing(afterMethod, !call.protocol().equals(JSON));
        if (serving != null && outgoing instanceof RpcException) {
            sendHeaders(found, serving);
        }
        call.fail(outgoing, serving == null ? new Metadata() : serving.responseMetadata());
        return outgoing;
    }

    /**
     * Sends the headers that the method set before it failed. On Triple, a typed exception is sent without headers.
     */
    private static void sendHeaders(MethodHandler found, ServerContext serving) {
        if (serving.responseHeaders().isEmpty()) {
            return;
        }
        try {
            serving.sendHeaders();
        } catch (RpcException e) {
            UNSENT_HEADERS.warn(() ->
                    found.method().fullName() + ": the headers of a failed answer cannot be sent: " + e.getMessage());
        }
    }
}
