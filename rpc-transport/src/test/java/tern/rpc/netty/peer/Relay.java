package tern.rpc.netty.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import tern.rpc.endpoint.Endpoint;

/**
 * A relay between two peers of the dubbo protocol that records the forwarded frames. If a peer ends its output, the
 * relay also ends the output to the other peer. That peer must then close the connection. Listens on all addresses.
 */
public final class Relay implements AutoCloseable {

    /** The frames from the clients, in order. */
    public final List<RawFrame> fromClients = new CopyOnWriteArrayList<>();

    /** The frames from the server, in order. */
    public final List<RawFrame> fromServer = new CopyOnWriteArrayList<>();

    private final ServerSocket listening;
    private final int target;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger left = new AtomicInteger();
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    public Relay(int target) {
        this.target = target;
        try {
            this.listening = new ServerSocket(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start("relay", this::accept);
    }

    private static void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                sockets.add(client);
                connect(client);
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket server;
        try {
            server = new Socket(InetAddress.getLoopbackAddress(), target);
        } catch (IOException refused) {
            client.close();
            return;
        }
        sockets.add(server);
        connections.incrementAndGet();
        RawSocket one = new RawSocket(client);
        RawSocket other = new RawSocket(server);
        client.setSoTimeout(0);
        server.setSoTimeout(0);
        start("relay-to-server", () -> {
            pass(one, other, fromClients);
            left.incrementAndGet();
        });
        start("relay-to-client", () -> pass(other, one, fromServer));
    }

    private static void pass(RawSocket from, RawSocket to, List<RawFrame> kept) {
        try {
            while (true) {
                RawFrame frame = from.read();
                kept.add(frame);
                to.send(frame);
            }
        } catch (UncheckedIOException ended) {
            tellEnd(to);
        }
    }

    private static void tellEnd(RawSocket to) {
        try {
            to.endOutput();
        } catch (UncheckedIOException closed) {
            to.close();
        }
    }

    public int port() {
        return listening.getLocalPort();
    }

    public Endpoint endpoint() {
        return new Endpoint("127.0.0.1", port());
    }

    public int connections() {
        return connections.get();
    }

    /** Returns the number of connections that the clients have closed. */
    public int left() {
        return left.get();
    }

    /** Closes every connection. */
    public void cut() {
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cut();
    }
}
