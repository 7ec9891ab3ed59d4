package tern.rpc.netty;

import java.net.SocketAddress;
import java.security.Principal;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import tern.rpc.limit.Share;
import tern.rpc.transport.ServerCall;

/** What the calls of every protocol have in common: who may answer, and until when. Thread-safe. */
public abstract class NettyServerCall implements ServerCall {

    private final ServerConnection connection;
    private final long receivedNanos = System.nanoTime();
    private final Share share;
    private final AtomicBoolean answered = new AtomicBoolean();

    /** A watcher with its time, replaced together. */
    private record Watch(long untilNanos, Watcher watcher) {}

    private volatile @Nullable Watch watch;

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
        return !answered.get();
    }

    @Override
    public void watch(long untilNanos, Watcher watcher) {
        watch = new Watch(untilNanos, watcher);
    }

    /** Whether the caller of this method is the one to answer. */
    protected boolean claimAnswer() {
        if (answered.get() || !answered.compareAndSet(false, true)) {
            return false;
        }
        discardRequest();
        connection.answered();
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
        if (answered.get()) {
            return true;
        }
        Watch present = watch;
        if (present != null && present.untilNanos() != Long.MAX_VALUE && now - present.untilNanos() >= 0) {
            present.watcher().expired();
        }
        return answered.get();
    }

    /** Nobody waits for the answer any more. Event loop. */
    public void disconnected() {
        if (claimAnswer()) {
            stopRunning();
        }
    }

    /** Tells whoever runs the call that its answer is not wanted. */
    protected void stopRunning() {
        Watch present = watch;
        if (present != null) {
            present.watcher().disconnected();
        }
    }
}
