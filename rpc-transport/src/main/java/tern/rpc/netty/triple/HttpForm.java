package tern.rpc.netty.triple;

import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/** An RPC protocol over HTTP: gRPC, gRPC-Web, Connect or JSON. Stateless. */
interface HttpForm {

    /**
     * Creates the call for a request. Must run on the event loop.
     *
     * @throws RpcException if the headers are invalid, or no exported method matches the path
     */
    HttpCall call(HttpExchange exchange, ServiceLookup services);

    /**
     * Creates the call for a request whose method does not exist. The call is authorized and read like any other call.
     *
     * @throws RpcException if the headers are invalid for every method
     */
    HttpCall callNowhere(HttpExchange exchange);

    /** Answers a request that did not become a call. */
    void refuse(HttpExchange exchange, RpcException reason);
}
