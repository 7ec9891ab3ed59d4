package tern.rpc.netty;

import tern.rpc.transport.PendingCall;

/**
 * Encodes requests and decodes answers for blocking callers that use their sockets directly. Belongs to one endpoint.
 * Thread-safe.
 */
public interface CallerExchanges {

    /**
     * Encodes a request.
     *
     * @return the parts of the request, in the order in which they are sent
     * @throws tern.rpc.RpcException if the request cannot be encoded
     */
    byte[][] request(PendingCall call);

    /** Creates the answer reader of one connection. */
    AnswerReader newReader();
}
