package tern.rpc.netty;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;

/**
 * The common part of calls of all protocols: it decides which thread answers, and watches the deadline. Thread-safe.
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
    private volatile @Nullable Watcher watcher; // written before its time
    private volatile long watchedUntilNanos = Long.MAX_VALUE; // no limit

    protected NettyServerCall(ServerConnection connection) {
        this.connection = connection;
        this.share = connection.share(); // later calls may count to another tenant
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

    /** Whether the calling thread is the one that answers. */
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

    /** Releases the bytes of a request that was not decoded. Either this or the decoding gets them. */
    protected abstract void discardRequest();

    /**
     * Checks the deadline. Runs on the event loop from time to time.
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

    /** The peer is gone, so nobody waits for the answer. Runs on the event loop. */
    public void disconnected() {
        if (claimAnswer()) {
            stopRunning();
        }
    }

    /** Tells the code that runs the call that its answer is not needed. */
    protected void stopRunning() {
        Watcher current = watcher;
        if (current != null) {
            current.disconnected();
        }
    }
}
