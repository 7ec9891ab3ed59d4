package tern.rpc.netty.triple;

import tern.rpc.RpcException;
import tern.rpc.transport.ServiceLookup;

/** One way of putting calls into HTTP: gRPC, gRPC-Web, Connect, JSON. Stateless. */
interface HttpForm {

    /**
     * Makes a call of a request; event loop.
     *
     * @throws RpcException if its head is wrong or names nothing that is exported
     */
    HttpCall call(HttpExchange exchange, ServiceLookup services);

    /**
     * Makes a call of a request that leads nowhere, to be judged and read like one that leads somewhere.
     *
     * @throws RpcException if its head is wrong wherever it leads
     */
    HttpCall callNowhere(HttpExchange exchange);

    /** Answers a request that became no call. */
    void refuse(HttpExchange exchange, RpcException reason);
}
