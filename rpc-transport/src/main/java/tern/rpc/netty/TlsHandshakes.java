package tern.rpc.netty;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs the computations of TLS handshakes, such as signatures, on separate threads: one for every four processors. A
 * signature takes about a millisecond, and any peer can request one without a token. On the event loops, many
 * handshakes would delay calls on other connections. The threads serve the client addresses in turn, because otherwise
 * a flood of handshakes from one address would delay the handshakes of all other addresses. Thread-safe.
 */
final class TlsHandshakes implements AutoCloseable {

    static final int THREADS = Math.max(1, Runtime.getRuntime().availableProcessors() / 4);

    /**
     * The maximum number of computations that wait for a thread. If there are more, the newest computation of the
     * address with the most waiting computations is dropped.
     */
    static final int MAX_WAITING = 1_024;

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
            new LinkedBlockingQueue<>(),
            new DefaultThreadFactory("rpc-tls", true));
    // the waiting computations by client address, beginning with the address whose turn is next; guarded by this
    private final Map<InetAddress, Deque<Runnable>> queues = new LinkedHashMap<>();
    private final Map<InetAddress, Integer> unfinished = new HashMap<>(); // guarded by this
    private int waiting; // the number of waiting computations; guarded by this

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
        if (!add(network, task)) {
            return;
        }
        try {
            threads.execute(this::runNext);
        } catch (RejectedExecutionException e) {
            throw new RejectedExecutionException("the server is closed", e);
        }
    }

    /**
     * @return whether a thread must be asked to run the computation; false if the computation replaces another one, for
     *     which a thread has already been asked
     */
    private synchronized boolean add(InetAddress network, Runnable task) {
        if (unfinished.getOrDefault(network, 0) >= MAX_OF_NETWORK) {
            throw new RejectedExecutionException(
                    "more than " + MAX_OF_NETWORK + " handshakes from " + network.getHostAddress() + " are unfinished");
        }
        boolean additional = waiting < MAX_WAITING;
        if (!additional && !giveUpOneOfLargest(network)) {
            throw new RejectedExecutionException("more than " + MAX_WAITING + " handshakes wait");
        }
        unfinished.merge(network, 1, Integer::sum);
        queues.computeIfAbsent(network, first -> new ArrayDeque<>()).add(task);
        waiting++;
        return additional;
    }

    /**
     * Drops the newest waiting computation of the address with the most waiting computations. The handshake of this
     * computation then ends at its time limit.
     *
     * @return false if no other address has at least two more waiting computations than the given one
     */
    private boolean giveUpOneOfLargest(InetAddress newcomer) {
        Map.Entry<InetAddress, Deque<Runnable>> largest = queues.entrySet().stream()
                .max(Comparator.comparingInt(entry -> entry.getValue().size()))
                .orElseThrow();
        Deque<Runnable> own = queues.get(newcomer);
        if (largest.getValue().size() < (own == null ? 0 : own.size()) + 2) {
            return false;
        }
        largest.getValue().removeLast();
        waiting--;
        ended(largest.getKey());
        return true;
    }

    /** Runs the next computation of the address whose turn it is. */
    private void runNext() {
        InetAddress network;
        Runnable task;
        synchronized (this) {
            Iterator<Map.Entry<InetAddress, Deque<Runnable>>> inTurn =
                    queues.entrySet().iterator();
            Map.Entry<InetAddress, Deque<Runnable>> next = inTurn.next();
            network = next.getKey();
            Deque<Runnable> queue = next.getValue();
            inTurn.remove();
            task = queue.remove();
            waiting--;
            if (!queue.isEmpty()) {
                // the address goes to the end of the queue, so all other addresses are served first
                queues.put(network, queue);
            }
        }
        try {
            task.run();
        } finally {
            ended(network);
        }
    }

    private synchronized void ended(InetAddress network) {
        unfinished.computeIfPresent(network, (known, count) -> count == 1 ? null : count - 1);
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
