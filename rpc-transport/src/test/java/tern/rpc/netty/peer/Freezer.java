package tern.rpc.netty.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A relay between clients and a server. While it is frozen, it accepts connections but forwards no bytes. */
public final class Freezer implements AutoCloseable {

    private final ServerSocket listening;
    private final String host;
    private final int target;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private boolean frozen; // guarded by this

    public Freezer(String host, int target) {
        this.host = host;
        this.target = target;
        try {
            this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        start(this::accept);
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "freezer");
        thread.setDaemon(true);
        thread.start();
    }

    public int port() {
        return listening.getLocalPort();
    }

    public synchronized void freeze() {
        frozen = true;
    }

    public synchronized void thaw() {
        frozen = false;
        notifyAll();
    }

    private synchronized void awaitThaw() {
        while (frozen) {
            try {
                wait();
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                Socket server = new Socket(host, target);
                sockets.add(client);
                sockets.add(server);
                start(() -> pass(client, server));
                start(() -> pass(server, client));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private void pass(Socket from, Socket to) {
        byte[] bytes = new byte[4_096];
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                awaitThaw();
                out.write(bytes, 0, read);
            }
        } catch (IOException closed) {
            // one of the two peers has closed its socket, so forwarding ends
        }
    }

    @Override
    public void close() throws IOException {
        thaw();
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }
}
