package tern.rpc.netty;

import tern.rpc.transport.PendingCall;

/**
 * The protocol for exchanges that blocking callers make themselves with one endpoint. Each exchange uses its own
 * socket. Thread-safe.
 */
public interface CallerExchanges {

    /**
     * Encodes a request.
     *
     * @return the bytes to send, in this order
     * @throws tern.rpc.RpcException if it cannot be encoded
     */
    byte[][] request(PendingCall call);

    /** Creates the reader for one connection. */
    AnswerReader newReader();
}
