package tern.rpc.netty.triple;

/** A client of HTTP for tests. */
interface WebClient extends AutoCloseable {

    /** Sends a request whole and waits for the whole answer. */
    WebAnswer send(WebRequest request);

    /** Begins a request of which the body follows piece by piece. */
    WebStream begin(WebRequest request);

    @Override
    void close();

    /** Both versions of HTTP. */
    enum Version {
        HTTP1,
        HTTP2;

        WebClient connect(int port) {
            return switch (this) {
                case HTTP1 -> new Http1WebClient(port);
                case HTTP2 -> new Http2WebClient(port);
            };
        }
    }
}
