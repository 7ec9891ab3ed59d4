package tern.rpc.netty.triple;

import tern.rpc.server.ServiceExport;

/** A server that exports {@link Words}, with one client for each version of HTTP, for tests. */
final class WebSides implements AutoCloseable {

    /** The maximum size of a message. It is small, so that tests can easily exceed it. */
    static final int LIMIT = 64 << 10;

    static final String WORDS = "/" + Words.class.getName() + "/";

    private final TripleSides sides = new TripleSides();
    final WordsServer words = new WordsServer();
    final int port;

    WebSides() {
        port = sides.serve(
                        limits -> limits.withMaxMessageBytes(LIMIT),
                        server -> server.export(ServiceExport.of(Words.class, words)))
                .port();
    }

    WebAnswer send(WebClient.Version version, WebRequest request) {
        try (WebClient client = version.connect(port)) {
            return client.send(request);
        }
    }

    @Override
    public void close() throws Exception {
        sides.close();
    }
}
