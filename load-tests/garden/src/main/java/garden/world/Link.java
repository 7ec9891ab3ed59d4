package garden.world;

import garden.shop.Naps;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A proxy between the shop application and a database or an HTTP server. The proxy can delay, block, throttle or cut
 * connections. Thread-safe.
 */
public final class Link implements AutoCloseable {

    private final ServerSocket server = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final int target;
    private volatile int usualDelay;
    private volatile int requestDelay;
    private volatile int connectDelay;
    private volatile int bytesPerMilli;
    private volatile boolean silent;
    private volatile boolean refusing;

    Link(int target) throws IOException {
        this.target = target;
        daemon(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    /**
     * Sets the normal delay of each piece of request data that the link forwards, in milliseconds. The delay applies
     * even without a fault.
     */
    public void usualDelay(int millis) {
        usualDelay = millis;
    }

    /** Sets the delay that a fault adds to each piece of request data that the link forwards, in milliseconds. */
    public void requestDelay(int millis) {
        requestDelay = millis;
    }

    /** Sets the delay, in milliseconds, that a fault adds before a new connection is forwarded. */
    public void connectDelay(int millis) {
        connectDelay = millis;
    }

    /** Limits the bandwidth for answers, in bytes per millisecond; 0 for no limit. */
    public void bytesPerMilli(int bytes) {
        bytesPerMilli = bytes;
    }

    /** Makes the link stop forwarding without closing any connection, as if its peer had become unreachable. */
    public void silent(boolean on) {
        silent = on;
        if (!on) {
            reset();
        }
    }

    /** Makes the link close each new connection immediately. */
    public void refusing(boolean on) {
        refusing = on;
        if (on) {
            reset();
        }
    }

    public void reset() {
        open.forEach(Link::cut);
        open.clear();
    }

    void heal() {
        requestDelay = 0;
        connectDelay = 0;
        bytesPerMilli = 0;
        refusing = false;
        if (silent) {
            silent(false);
        }
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket near = server.accept();
                if (refusing) {
                    cut(near);
                } else {
                    daemon(() -> connect(near));
                }
            } catch (IOException e) {
                return; // The link has been closed, so it accepts no more connections.
            }
        }
    }

    private void connect(Socket near) {
        Naps.millis(connectDelay);
        try {
            Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
            near.setTcpNoDelay(true);
            far.setTcpNoDelay(true);
            open.add(near);
            open.add(far);
            daemon(() -> pump(near, far, true));
            daemon(() -> pump(far, near, false));
        } catch (IOException e) {
            cut(near);
        }
    }

    private void pump(Socket from, Socket to, boolean request) {
        byte[] buffer = new byte[8_192];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                hold(request, length);
                out.write(buffer, 0, length);
            }
        } catch (IOException e) {
            // The client or the server has closed its connection. The link then closes its connection to the other side
            // as well.
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    private void hold(boolean request, int length) {
        while (silent) {
            Naps.millis(20);
        }
        if (request && usualDelay + requestDelay > 0) {
            Naps.millis(usualDelay + requestDelay);
        }
        int width = bytesPerMilli;
        if (!request && width > 0) {
            Naps.millis(length / width);
        }
    }

    private static void cut(Socket socket) {
        try {
            socket.setOption(StandardSocketOptions.SO_LINGER, 0); // with SO_LINGER 0, close() resets the connection
            socket.close();
        } catch (IOException e) {
            // The socket is already closed, so there is nothing to do.
        }
    }

    private static void daemon(Runnable task) {
        Thread thread = new Thread(null, task, "link", 128 * 1_024);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
        reset();
    }
}
