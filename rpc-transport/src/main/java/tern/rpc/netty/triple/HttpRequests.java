package tern.rpc.netty.triple;

import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;

/** The receiver of the requests that a server's connections read. Thread-safe. */
interface HttpRequests {

    /**
     * The head of a request was read. Runs on the event loop.
     *
     * @param tooManyFields whether the head has more fields than a server accepts
     * @param refused the reason why there is no room for the request; null if there is
     */
    void begin(HttpExchange exchange, boolean tooManyFields, @Nullable RpcException refused);

    /** The settings that connections of HTTP/2 announce. */
    AnnouncedSettings announced();
}
