package tern.rpc.registry.zookeeper;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import tern.rpc.registry.RegistryUrl;

/**
 * A simulated network between a client and a ZooKeeper server. The network can be cut. A cut network accepts and keeps
 * connections but passes no bytes on.
 */
final class Partition implements AutoCloseable {

    private final ServerSocket listener;
    private final int server;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private volatile boolean cut;

    /** @param address the host and port of the server */
    Partition(String address) throws IOException {
        server = Integer.parseInt(address.substring(address.indexOf(':') + 1));
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        run(this::accept);
    }

    /**
     * Returns the address at which this simulated network accepts connections to the registry. The session timeout is
     * the shortest timeout that the server allows.
     */
    RegistryUrl url() {
        return RegistryUrl.parse("zookeeper://127.0.0.1:" + listener.getLocalPort() + "?session=1000&timeout=500");
    }

    void cut() {
        cut = true;
    }

    /** Restores the network. Connections that were open during the cut are closed. */
    void heal() throws IOException {
        closeAll();
        cut = false;
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listener.accept();
            Socket other = new Socket(InetAddress.getLoopbackAddress(), server);
            sockets.add(client);
            sockets.add(other);
            run(() -> pass(client, other));
            run(() -> pass(other, client));
        }
    }

    private void pass(Socket from, Socket to) throws IOException {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] buffer = new byte[8_192];
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                if (!cut) {
                    out.write(buffer, 0, count);
                }
            }
        }
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void run(Task task) {
        Thread thread = new Thread(
                () -> {
                    try {
                        task.run();
                    } catch (IOException e) {
                        // A read or write fails when the connection has been closed.
                    }
                },
                "partition");
        thread.setDaemon(true);
        thread.start();
    }

    private void closeAll() throws IOException {
        for (Socket socket = sockets.poll(); socket != null; socket = sockets.poll()) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        closeAll();
    }
}
