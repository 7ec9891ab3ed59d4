package tern.rpc.netty;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.transport.PendingCall;

/**
 * The sockets of one endpoint that blocking callers write and read directly. The most recently used idle socket is
 * reused first. Event loops only run timers, which fail calls at their deadline and periodically check whether the
 * server has closed idle sockets. Thread-safe.
 */
final class CallerConnections implements CallerConnection.Owner {

    /** The maximum time between a call's deadline and its failure. */
    private static final long SWEEP_MILLIS = 20;

    /** The interval between checks for idle connections that the server has closed. */
    private static final long LOOK_MILLIS = 1_000;

    /**
     * A connection is checked before its reuse only if it has been idle for longer than this time, because the check
     * noticeably lengthens the call.
     */
    private static final long FRESH_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** Limits the number of connections, and records whether the server can be reached. */
    interface Owner {
        /**
         * Reserves one of the permitted connections for a new socket.
         *
         * @return false if the limit is reached and no idle connection can be closed to make room
         */
        boolean mayOpen();

        void connected();

        /** Called when an answer has been read completely. */
        void heard();

        /**
         * Called when a connection has ended.
         *
         * @param unreachable the reason why the server was not reached; null if the server was reached
         */
        void gone(@Nullable String unreachable);
    }

    private final Endpoint endpoint;
    private final ClientTransportSettings settings;
    private final CallerExchanges exchanges;
    private final EventLoops loops;
    private final Owner owner;
    // the idle connections, most recently used first
    private final Deque<CallerConnection> idle = new ConcurrentLinkedDeque<>();
    private final Set<CallerConnection> all = ConcurrentHashMap.newKeySet();
    private final AtomicLong lateAnswers = new AtomicLong();
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private final AtomicBoolean looking = new AtomicBoolean();
    private volatile boolean closed;
    private volatile @Nullable InetAddress lastReached;

    CallerConnections(
            Endpoint endpoint,
            ClientTransportSettings settings,
            CallerExchanges exchanges,
            EventLoops loops,
            CallerConnections.Owner owner) {
        this.endpoint = endpoint;
        this.settings = settings;
        this.exchanges = exchanges;
        this.loops = loops;
        this.owner = owner;
    }

    /**
     * Encodes the request of a caller that is about to block, and assigns a connection to the call.
     *
     * @param mayOpen whether a new connection may be opened if none is idle
     * @return false if no connection is available; the call is then unchanged
     */
    boolean send(PendingCall call, boolean mayOpen) {
        if (!mayOpen && idle.isEmpty()) {
            return false;
        }
        byte[][] request;
        try {
            request = exchanges.request(call);
        } catch (Throwable e) {
            call.fail(CallEnds.unsendable(call, endpoint, e));
            return true;
        }
        CallerConnection taken = take(mayOpen);
        if (taken == null) {
            return false;
        }
        taken.carry(call, request);
        sweepLater();
        return true;
    }

    private @Nullable CallerConnection take(boolean mayOpen) {
        long now = System.nanoTime();
        for (CallerConnection free = idle.pollFirst(); free != null; free = idle.pollFirst()) {
            if (!free.isClosed() && (now - free.idleSinceNanos() < FRESH_NANOS || free.isFresh())) {
                return free;
            }
        }
        if (!mayOpen || !owner.mayOpen()) {
            return null;
        }
        CallerConnection made = new CallerConnection(endpoint, settings, exchanges.newReader(), this);
        all.add(made);
        if (closed) {
            made.close("the client is closed");
        }
        return made;
    }

    /**
     * Closes one idle connection to make room for an event-loop connection. Returns false if there is no idle
     * connection.
     */
    boolean giveUpOne() {
        CallerConnection given = idle.pollLast();
        if (given == null || !all.remove(given)) {
            return false;
        }
        given.close("its place was needed for a connection of another kind");
        return true;
    }

    @Override
    public void connected(CallerConnection connection, InetAddress address) {
        lastReached = address;
        owner.connected();
    }

    @Override
    public @Nullable InetAddress lastReached() {
        return lastReached;
    }

    @Override
    public void released(CallerConnection connection) {
        owner.heard();
        idle.addFirst(connection);
        if (closed) {
            connection.close("the client is closed");
        }
        lookLater();
    }

    @Override
    public void answeredLate() {
        lateAnswers.incrementAndGet();
    }

    @Override
    public void gone(CallerConnection connection, @Nullable String unreachable) {
        if (all.remove(connection)) {
            idle.remove(connection);
            owner.gone(closed ? null : unreachable);
        }
    }

    // ---- Periodic checks

    void forEachWaiting(Consumer<PendingCall> action) {
        all.forEach(connection -> connection.ifWaiting(action));
    }

    private void sweepLater() {
        if (!sweeping.get() && sweeping.compareAndSet(false, true)) {
            schedule(this::sweep, SWEEP_MILLIS);
        }
    }

    private void sweep() {
        long now = System.nanoTime();
        boolean busy = false;
        for (CallerConnection connection : all) {
            connection.sweep(now);
            busy |= connection.isBusy();
        }
        if (busy) {
            schedule(this::sweep, SWEEP_MILLIS);
            return;
        }
        sweeping.set(false);
        if (all.stream().anyMatch(CallerConnection::isBusy)) {
            // A call that began before "sweeping" was reset has not scheduled a sweep. The next sweep checks its
            // deadline.
            sweepLater();
        }
    }

    private void lookLater() {
        if (!closed && !looking.get() && looking.compareAndSet(false, true)) {
            schedule(this::look, LOOK_MILLIS);
        }
    }

    /**
     * Closes connections that have been idle for at least the heartbeat interval or have been closed by the server.
     * Each connection is removed from the idle connections during its check, so that no other thread uses it.
     */
    private void look() {
        Deque<CallerConnection> kept = new ArrayDeque<>();
        long now = System.nanoTime();
        for (CallerConnection oldest = idle.pollLast(); oldest != null; oldest = idle.pollLast()) {
            long idleNanos = now - oldest.idleSinceNanos();
            if (idleNanos < TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS)) {
                kept.addLast(oldest);
                break;
            }
            if (idleNanos >= settings.heartbeat().toNanos()) {
                oldest.close("it was not needed for " + settings.heartbeat().toMillis()
                        + " ms (set by rpc.client.heartbeat)");
            } else if (oldest.isFresh()) {
                kept.addLast(oldest);
            }
        }
        for (CallerConnection back = kept.pollLast(); back != null; back = kept.pollLast()) {
            idle.addLast(back);
        }
        looking.set(false);
        if (closed) {
            closeAll("the client is closed"); // closes the connections that were in use when the client was closed
        } else if (!idle.isEmpty()) {
            lookLater();
        }
    }

    private void schedule(Runnable task, long millis) {
        try {
            loops.group().schedule(task, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            closeAll("the event loops are closed");
        }
    }

    // ---- Counters, close

    boolean hasIdle() {
        return !idle.isEmpty();
    }

    int inFlight() {
        return (int) all.stream().filter(CallerConnection::isBusy).count();
    }

    long queuedBytes() {
        return all.stream().mapToLong(CallerConnection::unsentBytes).sum();
    }

    long lateAnswers() {
        return lateAnswers.get();
    }

    void close() {
        closed = true;
        closeAll("the client is closed");
    }

    private void closeAll(String reason) {
        all.forEach(connection -> connection.close(reason));
    }
}
