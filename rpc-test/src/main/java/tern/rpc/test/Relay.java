package tern.rpc.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A TCP relay between clients and a server. The relay can close connections and refuse new connections. Thread-safe.
 */
final class Relay implements AutoCloseable {

    private static final int BUFFER_BYTES = 16 << 10;

    /** A client's connection to the relay, and the relay's connection to the server for this client. */
    private record Pair(Socket client, Socket server) {}

    private final int serverPort;
    private final int port;
    // The open pairs of connections (from the client, and to the server), by the local port of the connection to the
    // server.
    private final Map<Integer, Pair> pairs = new ConcurrentHashMap<>();
    private ServerSocket listening; // the open port; this object's lock guards "listening" and "accepting"
    private Thread accepting;

    Relay(int serverPort) {
        this.serverPort = serverPort;
        this.listening = listen(0);
        this.accepting = acceptFrom(listening);
        this.port = listening.getLocalPort();
    }

    private static ServerSocket listen(int wanted) {
        try {
            ServerSocket opened = new ServerSocket();
            opened.setReuseAddress(true);
            opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), wanted));
            return opened;
        } catch (IOException e) {
            throw new UncheckedIOException("the scripted provider cannot listen on port " + wanted, e);
        }
    }

    private Thread acceptFrom(ServerSocket opened) {
        return run("accept", () -> acceptAll(opened));
    }

    private static Thread run(String name, Runnable task) {
        Thread thread = new Thread(task, "scripted-provider-" + name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    int port() {
        return port;
    }

    private void acceptAll(ServerSocket from) {
        while (!from.isClosed()) {
            try {
                passOn(from, from.accept());
            } catch (IOException e) {
                // The port was closed by refuse() or close(), or the client has disconnected before it was connected to
                // the server.
            }
        }
    }

    private void passOn(ServerSocket from, Socket client) throws IOException {
        Socket server = new Socket(InetAddress.getLoopbackAddress(), serverPort);
        Pair pair = new Pair(client, server);
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        pairs.put(server.getLocalPort(), pair);
        if (from.isClosed()) {
            cut(pair);
            return;
        }
        run("requests", () -> copy(client, server, pair));
        run("answers", () -> copy(server, client, pair));
    }

    private void copy(Socket from, Socket to, Pair pair) {
        byte[] buffer = new byte[BUFFER_BYTES];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                out.write(buffer, 0, count);
            }
        } catch (IOException e) {
            // One peer has disconnected. Both connections are closed in the finally block.
        } finally {
            cut(pair);
        }
    }

    private void cut(Pair pair) {
        pairs.values().remove(pair);
        close(pair.client());
        close(pair.server());
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            // The socket is already closed.
        }
    }

    /** Closes the client connection that is forwarded to the server from the given local port. */
    void drop(int portTowardsServer) {
        Pair pair = pairs.get(portTowardsServer);
        if (pair != null) {
            cut(pair);
        }
    }

    void dropAll() {
        pairs.values().forEach(this::cut);
    }

    /**
     * Closes the port and every connection. Blocks until the accepting thread has ended, because the operating system
     * accepts connections until then.
     */
    synchronized void refuse() {
        try {
            listening.close();
            accepting.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        dropAll();
    }

    /** Opens the port again after {@link #refuse}. */
    synchronized void accept() {
        if (listening.isClosed()) {
            listening = listen(port);
            accepting = acceptFrom(listening);
        }
    }

    @Override
    public void close() {
        refuse();
    }
}
