package tern.rpc.netty;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.security.Principal;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;

/** What the calls of every protocol have in common: who may answer, and until when. Thread-safe. */
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
    private volatile long watchedUntilNanos = Long.MAX_VALUE; // for ever

    protected NettyServerCall(ServerConnection connection) {
        this.connection = connection;
        this.share = connection.share(); // later ones may count to another
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

    /** Whether the caller of this method is the one to answer. */
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

    /** Lets go of the request's bytes if they were not read; at most one of this and reading gets them. */
    protected abstract void discardRequest();

    /**
     * Looks at the time; event loop, now and then.
     *
     * @return whether the connection may forget the call
     */
    protected boolean isOverOrExpires(long now) {
        if (answered) {
            return true;
        }
        long until = watchedUntilNanos;
        Watcher present = watcher;
        if (present != null && until != Long.MAX_VALUE && now - until >= 0) {
            present.expired();
        }
        return answered;
    }

    /** Nobody waits for the answer any more. Event loop. */
    public void disconnected() {
        if (claimAnswer()) {
            stopRunning();
        }
    }

    /** Tells whoever runs the call that its answer is not wanted. */
    protected void stopRunning() {
        Watcher present = watcher;
        if (present != null) {
            present.disconnected();
        }
    }
}
