package tern.rpc.spring.autoconfigure.pool;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A TCP proxy that simulates a network failure. The proxy forwards all bytes until {@link #open} is called. After that,
 * it accepts connections and reads from both sides, but forwards nothing.
 */
final class BlackHole implements AutoCloseable {

    private final ServerSocket listening;
    private final int server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final Thread acceptor = new Thread(this::accept, "black-hole");
    private volatile boolean open;

    private BlackHole(ServerSocket listening, int server) {
        this.listening = listening;
        this.server = server;
        acceptor.setDaemon(true);
        acceptor.start();
    }

    static BlackHole before(int server) throws IOException {
        return new BlackHole(new ServerSocket(0, 512, InetAddress.getLoopbackAddress()), server);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Stops forwarding bytes. */
    void open() {
        open = true;
    }

    private void accept() {
        try {
            while (true) {
                Socket client = keep(listening.accept());
                Socket behind = keep(new Socket(InetAddress.getLoopbackAddress(), server));
                forward(client, behind);
                forward(behind, client);
            }
        } catch (IOException e) {
            if (!listening.isClosed()) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private Socket keep(Socket socket) {
        sockets.add(socket);
        return socket;
    }

    private void forward(Socket from, Socket to) {
        Thread pump = new Thread(() -> pump(from, to), "black-hole-pump");
        pump.setDaemon(true);
        pump.start();
    }

    private void pump(Socket from, Socket to) {
        byte[] bytes = new byte[8 << 10];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                if (!open) {
                    out.write(bytes, 0, read);
                }
            }
        } catch (IOException e) {
            // One side has disconnected, so forwarding ends.
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    @Override
    public void close() throws IOException, InterruptedException {
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
        acceptor.join();
    }
}
