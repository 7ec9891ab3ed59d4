package tern.rpc.netty;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.security.Principal;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;

/**
 * The base class of the calls that a server receives, over any protocol. This class ensures that only one thread
 * answers a call, and checks the call's deadline. Thread-safe.
 */
public abstract class NettyServerCall implements ServerCall, UnansweredCalls.Unanswered {

    /**
     * The connection checks the deadline of a call every 20 ms. Once a call has been open for this long, its deadline
     * is checked only once a second.
     */
    private static final long REST_AFTER_NANOS = TimeUnit.SECONDS.toNanos(1);

    /**
     * When less time than this remains until the deadline, the connection checks the deadline every 20 ms instead of
     * once a second. The value is greater than one second, so that a rare check always happens before the deadline.
     */
    private static final long ALERT_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final VarHandle ANSWERED;

    static {
        try {
            ANSWERED = MethodHandles.lookup().findVarHandle(NettyServerCall.class, "answered", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ServerConnection connection;
    private final long receivedNanos = System.nanoTime();
    private final Share share;
    // true if a thread has claimed the answer; updated atomically by the VarHandle ANSWERED
    private volatile boolean answered;

    // the watcher is written before watchedUntilNanos, so a thread that sees the new watchedUntilNanos also sees the
    // watcher
    private volatile @Nullable Watcher watcher;
    // the time after which the watcher is notified; Long.MAX_VALUE if there is no time limit
    private volatile long watchedUntilNanos = Long.MAX_VALUE;

    protected NettyServerCall(ServerConnection connection) {
        this.connection = connection;
        // the tenant's call counter is stored here, because later calls on the connection can belong to another tenant
        this.share = connection.share();
    }

    protected ServerConnection connection() {
        return connection;
    }

    @Override
    public SocketAddress remoteAddress() {
        return connection.remoteAddress();
    }

    @Override
    public @Nullable Principal peerPrincipal() {
        return connection.peerPrincipal();
    }

    @Override
    public void callerIsKnown() {
        connection.callerIsKnown();
    }

    @Override
    public Share share() {
        return share;
    }

    @Override
    public long receivedNanos() {
        return receivedNanos;
    }

    @Override
    public boolean isOpen() {
        return !answered;
    }

    @Override
    public void watch(long untilNanos, Watcher newWatcher) {
        watcher = newWatcher;
        watchedUntilNanos = untilNanos;
    }

    /** Returns true for exactly one caller of this method. The calling thread must then answer the call. */
    protected boolean claimAnswer() {
        if (answered || !ANSWERED.compareAndSet(this, false, true)) {
            return false;
        }
        try {
            discardRequest();
        } finally {
            connection.calls().answered(this);
        }
        return true;
    }

    /**
     * Claims the answer like {@link #claimAnswer}, and drops the reference to the arguments. Called when the answer is
     * a result or a failure of the method. The connection removes an answered call only at its next check. If the heap
     * is full, this check can be late. Without this method, the arguments of answered calls would keep the heap full.
     */
    protected boolean claimResult() {
        if (!claimAnswer()) {
            return false;
        }
        watcher = null;
        return true;
    }

    @Override
    public boolean expectsAnswer() {
        return !isOneWay();
    }

    /**
     * Releases the bytes of an undecoded request. Does nothing if the decoding thread already owns the bytes.
     */
    protected abstract void discardRequest();

    /**
     * Checks the deadline of the call. Runs periodically on the event loop.
     *
     * @return whether the call has been answered; if so, the connection removes it from its list of calls
     */
    @Override
    public boolean isOverOrExpires(long now) {
        if (answered) {
            return true;
        }
        long until = watchedUntilNanos;
        Watcher current = watcher;
        if (current != null && until != Long.MAX_VALUE && now - until >= 0) {
            current.expired();
        }
        return answered;
    }

    @Override
    public boolean mayRest(long now) {
        return watcher != null && mayRest(now, watchedUntilNanos);
    }

    /**
     * Returns whether one check of the deadline per second is enough during the next two seconds.
     *
     * @param untilNanos the time limit of the call; Long.MAX_VALUE if there is none
     */
    protected boolean mayRest(long now, long untilNanos) {
        return now - receivedNanos >= REST_AFTER_NANOS
                && (untilNanos == Long.MAX_VALUE || untilNanos - now > ALERT_NANOS);
    }

    @Override
    public boolean keepsConnection() {
        return kind() != CallKind.HEALTH_WATCH;
    }

    /** Returns the kind of the call, which does not change. */
    public CallKind kind() {
        return CallKind.UNARY;
    }

    /**
     * Called when the connection has been lost. Ends the call, because its answer cannot be sent. A one-way call
     * continues, because its caller might close the connection as soon as the request has been sent. Must run on the
     * event loop.
     */
    @Override
    public void disconnected() {
        if (!isOneWay()) {
            giveUp();
        }
    }

    /** Ends the call without an answer. Must run on the event loop. */
    protected final void giveUp() {
        if (claimAnswer()) {
            stopRunning();
        }
    }

    /** Returns whether the caller does not wait for an answer. */
    protected boolean isOneWay() {
        return false;
    }

    /** Notifies the code that executes the call that the answer is no longer needed. */
    protected void stopRunning() {
        Watcher current = watcher;
        if (current != null) {
            current.disconnected();
        }
    }
}
