package tern.rpc.netty;

import tern.rpc.transport.PendingCall;

/**
 * The protocol of exchanges that blocking callers make with one endpoint themselves, each on a socket of its own.
 * Thread-safe.
 */
public interface CallerExchanges {

    /**
     * Encodes a request.
     *
     * @return the bytes to send, in this order
     * @throws tern.rpc.RpcException if it cannot be encoded
     */
    byte[][] request(PendingCall call);

    /** Creates the reader of one connection. */
    AnswerReader newReader();
}
