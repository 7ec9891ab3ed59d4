package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** Receives the requests that a server's connections read. Thread-safe. */
interface HttpRequests {

    /**
     * Called when the head of a request was read. Runs on the event loop.
     *
     * @param tooManyFields whether the head has more fields than a server accepts
     * @param refused the reason why there is no room for the request; null if there is
     */
    void begin(HttpExchange exchange, boolean tooManyFields, @Nullable RpcException refused);

    /** The settings that HTTP/2 connections announce. */
    AnnouncedSettings announced();
}
