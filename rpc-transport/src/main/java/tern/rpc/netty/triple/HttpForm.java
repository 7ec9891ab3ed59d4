package tern.rpc.netty.triple;

import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/** An RPC protocol on HTTP: gRPC, gRPC-Web, Connect, JSON. Stateless. */
interface HttpForm {

    /**
     * Creates the call of a request. Runs on the event loop.
     *
     * @throws RpcException if the head is invalid or names no exported method
     */
    HttpCall call(HttpExchange exchange, ServiceLookup services);

    /**
     * Creates the call of a request without a known method. The call is authorized and read like any other.
     *
     * @throws RpcException if its head is invalid for any method
     */
    HttpCall callNowhere(HttpExchange exchange);

    /** Answers a request that did not become a call. */
    void refuse(HttpExchange exchange, RpcException reason);
}
