package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** Receives the HTTP requests from all connections of a server. Thread-safe. */
interface HttpRequests {

    /**
     * Called when the headers of a request were read. Runs on the event loop.
     *
     * @param tooManyFields whether the request has more header fields than a server accepts
     * @param refused the reason why there is no memory for the request; null if there is memory
     */
    void begin(HttpExchange exchange, boolean tooManyFields, @Nullable RpcException refused);

    /** The settings that HTTP/2 connections send to clients. */
    AnnouncedSettings announced();
}
