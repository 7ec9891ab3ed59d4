package tern.rpc.netty.triple;

/** An HTTP client for tests. */
interface WebClient extends AutoCloseable {

    /** Sends a complete request and blocks until the answer is complete. */
    WebAnswer send(WebRequest request);

    /** Begins a request. The body is sent later, in pieces. */
    WebStream begin(WebRequest request);

    @Override
    void close();

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
