package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** Receives the HTTP requests from all connections of a server. Thread-safe. */
interface HttpRequests {

    /**
     * Called when the headers of a request have been read. Runs on the event loop.
     *
     * @param tooManyFields whether the request has more header fields than the server accepts
     * @param refused the reason why the memory budget does not permit the request; null if the budget permits it
     */
    void begin(HttpExchange exchange, boolean tooManyFields, @Nullable RpcException refused);

    /** Returns the settings that HTTP/2 connections send to clients. */
    AnnouncedSettings announced();
}
