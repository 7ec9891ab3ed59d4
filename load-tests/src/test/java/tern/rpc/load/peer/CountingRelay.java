package tern.rpc.load.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Forwards connections to a local port. Bytes are counted before they are forwarded. */
final class CountingRelay implements AutoCloseable {

    private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final List<Socket> open = Collections.synchronizedList(new ArrayList<>());
    private final AtomicLong there = new AtomicLong();
    private final AtomicLong back = new AtomicLong();
    private final int target;

    CountingRelay(int target) throws IOException {
        this.target = target;
        start(this::accept);
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Returns the number of bytes sent by clients. */
    long there() {
        return there.get();
    }

    /** Returns the number of bytes sent by the server. */
    long back() {
        return back.get();
    }

    private void accept() throws IOException {
        while (true) {
            Socket client = listening.accept();
            open.add(client);
            Socket server = new Socket(InetAddress.getLoopbackAddress(), target);
            open.add(server);
            start(() -> pass(client, server, there));
            start(() -> pass(server, client, back));
        }
    }

    private static void pass(Socket from, Socket to, AtomicLong count) throws IOException {
        InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream();
        byte[] buffer = new byte[64 * 1_024];
        int read;
        while ((read = in.read(buffer)) >= 0) {
            count.addAndGet(read);
            out.write(buffer, 0, read);
        }
        to.shutdownOutput();
    }

    private interface Task {
        void run() throws IOException;
    }

    private static void start(Task task) {
        Thread thread = new Thread(() -> {
            try {
                task.run();
            } catch (IOException e) {
                return; // One of the sockets was closed, so the connection has ended.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket socket : List.copyOf(open)) {
            socket.close();
        }
    }
}
