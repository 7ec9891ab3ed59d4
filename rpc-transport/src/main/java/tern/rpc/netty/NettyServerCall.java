package tern.rpc.netty;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;

/**
 * The common part of the calls of all protocols. It decides which thread answers, and watches the deadline.
 * Thread-safe.
 */
public abstract class NettyServerCall implements ServerCall {

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
    private volatile boolean answered; // set by ANSWERED
    private volatile @Nullable Watcher watcher; // written before the time until which the call is watched
    private volatile long watchedUntilNanos = Long.MAX_VALUE; // Long.MAX_VALUE means no limit

    protected NettyServerCall(ServerConnection connection) {
        this.connection = connection;
        this.share = connection.share(); // stored, because later calls of the connection may count for another tenant
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
    public void watch(long untilNanos, Watcher told) {
        watcher = told;
        watchedUntilNanos = untilNanos;
    }

    /** Whether the calling thread is the one that may answer. True only once. */
    protected boolean claimAnswer() {
        if (answered || !ANSWERED.compareAndSet(this, false, true)) {
            return false;
        }
        try {
            discardRequest();
        } finally {
            connection.answered();
        }
        return true;
    }

    /** Releases the bytes of a request that was not decoded. Does nothing if decoding has already taken them. */
    protected abstract void discardRequest();

    /**
     * Checks the deadline. Runs periodically on the event loop.
     *
     * @return whether the connection may forget the call
     */
    protected boolean isOverOrExpires(long now) {
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

    /** Called when the client has disconnected, so that nobody waits for the answer. Runs on the event loop. */
    public void disconnected() {
        if (claimAnswer()) {
            stopRunning();
        }
    }

    /** Notifies the code that runs the call that its answer is not needed. */
    protected void stopRunning() {
        Watcher current = watcher;
        if (current != null) {
            current.disconnected();
        }
    }
}
