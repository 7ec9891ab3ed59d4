package tern.rpc.netty.triple;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import tern.rpc.server.ServiceExport;

/**
 * A server that exports {@link Words}, with one client for each version of HTTP, for tests. A test class that uses one
 * server for all tests registers it as an extension in a static field.
 */
final class WebSides implements AutoCloseable, AfterAllCallback {

    /** The maximum size of a message. The size is small, so that tests can easily exceed it. */
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

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        close();
    }
}
