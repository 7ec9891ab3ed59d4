package tern.rpc.netty.peer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;

/** Listens on a port and passes every accepted socket to the test. */
public final class RawServer implements AutoCloseable {

    private final ServerSocket listening;
    private final BlockingQueue<RawSocket> accepted = new LinkedBlockingQueue<>();
    private final List<RawSocket> all = new CopyOnWriteArrayList<>();
    private final AtomicInteger count = new AtomicInteger();

    private final Thread accepting = new Thread(this::accept, "raw-server");

    private RawServer(ServerSocket listening) {
        this.listening = listening;
        accepting.setDaemon(true);
        accepting.start();
    }

    public static RawServer start() {
        return start(0);
    }

    public static RawServer start(int port) {
        try {
            ServerSocket socket = new ServerSocket();
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 128);
            return new RawServer(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket socket = listening.accept();
                RawSocket raw = new RawSocket(socket);
                all.add(raw);
                count.incrementAndGet();
                accepted.add(raw);
            } catch (IOException closed) {
                return;
            }
        }
    }

    public int port() {
        return listening.getLocalPort();
    }

    public Endpoint endpoint() {
        return new Endpoint("127.0.0.1", port());
    }

    /** Blocks until the next socket is accepted, and returns it. */
    public RawSocket next() {
        try {
            RawSocket next = accepted.poll(30, TimeUnit.SECONDS);
            if (next == null) {
                throw new AssertionError("nobody connected");
            }
            return next;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    public int accepted() {
        return count.get();
    }

    /** Answers every request on every accepted socket until the server is closed. Runs on a separate thread. */
    public void serve(Answering answering) {
        Thread acceptor = new Thread(() -> {
            while (!listening.isClosed() || !accepted.isEmpty()) {
                RawSocket socket = poll();
                if (socket != null) {
                    Thread thread = new Thread(() -> serve(socket, answering), "raw-server-socket");
                    thread.setDaemon(true);
                    thread.start();
                }
            }
        });
        acceptor.setDaemon(true);
        acceptor.start();
    }

    private @Nullable RawSocket poll() {
        try {
            return accepted.poll(50, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            return null;
        }
    }

    private static void serve(RawSocket socket, Answering answering) {
        try {
            while (true) {
                byte[] answer = answering.answer(socket.read());
                if (answer.length > 0) {
                    socket.send(answer);
                }
            }
        } catch (UncheckedIOException closed) {
            socket.close();
        }
    }

    /** Creates the answer to a request. */
    @FunctionalInterface
    public interface Answering {
        byte[] answer(RawFrame request);
    }

    /**
     * Stops listening. Blocks until the accepting thread has ended, because the operating system accepts connections
     * until then.
     */
    public void stopListening() {
        try {
            listening.close();
            accepting.join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        stopListening();
        all.forEach(RawSocket::close);
    }
}
