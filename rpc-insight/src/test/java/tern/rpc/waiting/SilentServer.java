package tern.rpc.waiting;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Accepts connections and never answers. For Redis it answers all commands but GET. */
final class SilentServer implements AutoCloseable {

    private final ServerSocket listening;
    private final boolean redis;
    private final List<Socket> accepted = new CopyOnWriteArrayList<>();

    private SilentServer(boolean redis) {
        this.redis = redis;
        try {
            listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        daemon(this::accept);
    }

    static SilentServer open() {
        return new SilentServer(false);
    }

    static SilentServer ofRedis() {
        return new SilentServer(true);
    }

    int port() {
        return listening.getLocalPort();
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(task, "silent-server");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = listening.accept();
                accepted.add(socket);
                if (redis) {
                    daemon(() -> greet(socket));
                }
            }
        } catch (IOException e) {
            close(); // the test has ended
        }
    }

    private static void greet(Socket socket) {
        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int parts = Integer.parseInt(line.substring(1));
                String command = "";
                for (int i = 0; i < parts; i++) {
                    in.readLine();
                    String part = in.readLine();
                    command = i == 0 ? part : command;
                }
                if (!command.equalsIgnoreCase("GET")) {
                    socket.getOutputStream().write("+OK\r\n".getBytes(StandardCharsets.UTF_8));
                }
            }
        } catch (IOException e) {
            // the test has ended
        }
    }

    @Override
    public void close() {
        try {
            listening.close();
            for (Socket socket : accepted) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
