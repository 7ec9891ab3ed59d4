package tern.rpc.netty;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs the computations of TLS handshakes, such as signatures, on separate threads: one for every four processors. A
 * signature takes about a millisecond, and any peer can request one without a token. On the event loops, many
 * handshakes would delay calls on other connections. Thread-safe.
 */
final class TlsHandshakes implements AutoCloseable {

    private static final int THREADS = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);

    /** The maximum number of computations that wait for a thread. Additional handshakes fail. */
    private static final int MAX_WAITING = 1_024;

    /**
     * The maximum number of unfinished computations for connections from one address. Additional handshakes from this
     * address fail.
     */
    static final int MAX_OF_NETWORK = 256;

    private static final long IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            new DefaultThreadFactory("rpc-tls", true));
    private final Map<InetAddress, Integer> unfinished = new ConcurrentHashMap<>();

    TlsHandshakes() {
        threads.allowCoreThreadTimeOut(true);
    }

    /**
     * Returns the executor for the handshakes of connections from this address. The executor rejects tasks while too
     * many tasks are unfinished.
     *
     * @param network the address of the peer; for IPv6 the first 64 bits
     */
    Executor of(InetAddress network) {
        return task -> execute(network, task);
    }

    private void execute(InetAddress network, Runnable task) {
        if (unfinished.merge(network, 1, Integer::sum) > MAX_OF_NETWORK) {
            ended(network);
            throw new RejectedExecutionException(
                    "more than " + MAX_OF_NETWORK + " handshakes from " + network.getHostAddress() + " are unfinished");
        }
        try {
            threads.execute(() -> {
                try {
                    task.run();
                } finally {
                    ended(network);
                }
            });
        } catch (RejectedExecutionException e) {
            ended(network);
            throw new RejectedExecutionException(
                    threads.isShutdown() ? "the server is closed" : "more than " + MAX_WAITING + " handshakes wait", e);
        }
    }

    private void ended(InetAddress network) {
        unfinished.computeIfPresent(network, (known, count) -> count == 1 ? null : count - 1);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
