package tern.rpc.netty;

import tern.rpc.transport.PendingCall;

/**
 * How callers that wait make exchanges with one endpoint themselves, each on a socket that is theirs meanwhile.
 * Thread-safe.
 */
public interface CallerExchanges {

    /**
     * Encodes a request.
     *
     * @return what is sent, in this order
     * @throws tern.rpc.RpcException if it cannot be encoded
     */
    byte[][] request(PendingCall call);

    /** For one connection. */
    AnswerReader newReader();
}
