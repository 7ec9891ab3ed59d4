package tern.rpc.load.peer;

import java.io.InputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** A Jetty server with default settings and 200 threads, which read the bodies and run the methods. */
final class JettyServer {

    private JettyServer() {}

    /** Handles a request body on one of Jetty's threads, and returns the response body. */
    interface Endpoint {

        /**
         * Answers a request.
         *
         * @throws Exception if the request fails; the server then answers with status 500
         */
        byte[] answer(String path, InputStream body) throws Exception;
    }

    /**
     * Starts a server.
     *
     * @return a handle that stops the server when it is closed
     */
    static AutoCloseable start(int port, String contentType, Endpoint endpoint) {
        Server server = new Server(new QueuedThreadPool(Workers.THREADS));
        ServerConnector connector = new ServerConnector(server);
        connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
        connector.setPort(port);
        server.addConnector(connector);
        server.setHandler(new Answering(contentType, endpoint));
        try {
            server.start();
        } catch (Exception e) {
            throw new IllegalStateException("Jetty cannot serve on port " + port, e);
        }
        return server::stop;
    }

    private static final class Answering extends Handler.Abstract {

        private final String contentType;
        private final Endpoint endpoint;

        Answering(String contentType, Endpoint endpoint) {
            this.contentType = contentType;
            this.endpoint = endpoint;
        }

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            byte[] answer = endpoint.answer(Request.getPathInContext(request), Content.Source.asInputStream(request));
            response.getHeaders().put("Content-Type", contentType);
            response.write(true, ByteBuffer.wrap(answer), callback);
            return true;
        }
    }
}
