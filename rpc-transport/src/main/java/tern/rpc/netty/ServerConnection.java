package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.security.Principal;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;
import tern.rpc.Thrown;
import tern.rpc.limit.Share;
import tern.rpc.transport.CallHandler;

/**
 * One socket of a server, with its calls, its write queue and its time limits. Fields without a comment are confined to
 * the event loop.
 */
public final class ServerConnection implements SilentConnections.Open, SlowReaders.Open, IncompleteInput.Reading {

    private static final Logger LOG = LoggerFactory.getLogger(ServerConnection.class);

    /** How long a silent or idle connection stays open after the server has asked the client to send no more calls. */
    private static final long LEAVE_MILLIS = 1_000;

    /**
     * The server stops reading requests while the write queue contains more than {@value} bytes. Reading resumes below
     * the low watermark (docs/limits.md).
     */
    private static final long HIGH_WATERMARK = 1 << 20;

    private static final long LOW_WATERMARK = 512 << 10;

    private final ServerPort port;
    private final Channel channel;
    private final WriteQueue queue = new WriteQueue() {
        @Override
        void lowered() {
            resumeReading();
        }

        @Override
        void changed(long before, long after) {
            queueChanged(before, after);
        }
    };
    private final Tenancy tenancy;
    private final CallsInFlight calls;
    private final OpenRequestMemory memory;
    private final UnreadBytes unread;
    private final SocketReading reading;
    private volatile @Nullable ServerProtocol protocol;
    private volatile @Nullable Principal peerPrincipal;
    private volatile boolean known; // true if the caller is authenticated, or if authentication is not required
    private long heardNanos = System.nanoTime();
    // the state of the socket at the last check for idle connections
    private OutputProgress lastOutput = OutputProgress.NOTHING;
    private boolean ending; // true if the connection will be closed when its queued answers have been written

    // true while the connection is being closed because it is idle or to make room for another connection; any thread
    // writes this field
    private volatile boolean leaving;

    /** @param host the address of the peer */
    ServerConnection(ServerPort port, Channel channel, InetAddress host) {
        this.port = port;
        this.channel = channel;
        this.known = !port.handler().asksWhoCalls();
        this.calls = new CallsInFlight(port, channel);
        // The counters of bytes and tenants are created last. They count this connection until closed() is called, and
        // closed() is never called if a later statement throws an exception.
        InetAddress network = Tenancy.network(host);
        this.reading = new SocketReading(
                channel, port.settings().firstBytesTimeout(), LoopShares.join(channel.eventLoop(), network));
        this.unread = new UnreadBytes(port.unsent(), network);
        this.memory = new OpenRequestMemory(port.heads(), port.budget(), network, this::newAccount);
        this.tenancy = new Tenancy(port.tenants(), network, channel.remoteAddress());
    }

    /** Called when the channel is open. */
    void opened() {
        queue.start(channel);
        port.idle().opened(channel.eventLoop());
    }

    @Override
    public ServerTransportSettings settings() {
        return port.settings();
    }

    public WriteQueue queue() {
        return queue;
    }

    /** Returns the local address of the connection. */
    public SocketAddress localAddress() {
        return channel.localAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
        return channel.remoteAddress();
    }

    /** Returns the subject of the client's certificate; null if the client has no certificate. */
    @Nullable
    Principal peerPrincipal() {
        return peerPrincipal;
    }

    /** Called when the TLS handshake is complete. */
    void secured(@Nullable Principal peer) {
        peerPrincipal = peer;
        if (peer != null) {
            tenancy.named(peer);
            callerIsKnown();
        }
    }

    /**
     * Called when the caller has been authenticated. A caller counts as authenticated once one of its calls has been
     * admitted or, if there are no authorizers, once its token has been accepted. From then on, the limits for
     * unauthenticated callers no longer apply. Any thread may call this method, any number of times.
     */
    public void callerIsKnown() {
        if (known) {
            return;
        }
        if (channel.eventLoop().inEventLoop()) {
            leaveStrangers();
            return;
        }
        try {
            channel.eventLoop().execute(this::leaveStrangers);
        } catch (RejectedExecutionException e) {
            // the event loops have terminated, so this connection is closed
        }
    }

    private void leaveStrangers() {
        if (!known) { // another thread might have admitted a call from this caller at the same time
            known = true;
            memory.moveTo(port.budget());
        }
    }

    /** Returns a random id for a frame that is not an answer, such as the dubbo protocol's read-only event. */
    public long newId() {
        return ThreadLocalRandom.current().nextLong();
    }

    /** Called when bytes have been read. Pauses reading while the peer has too many unread answers. */
    public void heard() {
        heardWithoutPause();
        if (hasMuchUnsent()) {
            reading.waitsForPeer(true);
        }
    }

    /**
     * Called instead of {@link #heard} when bytes have been read. Used by protocols that cannot write without reading,
     * because a received frame can permit them to write. Such a protocol reads even while the peer has too many unread
     * answers.
     */
    public void heardWithoutPause() {
        heardNanos = System.nanoTime();
    }

    private void resumeReading() {
        if (reading.waitsForPeer() && queue.queuedBytes() < LOW_WATERMARK) {
            reading.waitsForPeer(false);
        }
    }

    /**
     * Returns whether too many bytes are waiting to be sent. The server should then produce no more answers for this
     * peer.
     */
    public boolean hasMuchUnsent() {
        return queue.queuedBytes() > HIGH_WATERMARK;
    }

    /** Called by the protocol when it starts or stops accepting bytes. Initially, the protocol accepts bytes. */
    public void wantsBytes(boolean wanted) {
        reading.unwanted(!wanted);
    }

    public boolean isOpen() {
        return channel.isActive();
    }

    public CallsInFlight calls() {
        return calls;
    }

    /** Returns the object that counts the memory of open requests. */
    @Override
    public OpenRequestMemory memory() {
        return memory;
    }

    /**
     * Creates the object that counts the bytes of an incomplete frame or header on this connection.
     *
     * @param tooSlow closes the connection; its argument is the reason, as text for error messages
     */
    public IncompleteInput newIncompleteInput(Consumer<String> tooSlow) {
        return new IncompleteInput(this, tooSlow);
    }

    private InboundAccount newAccount() {
        return new InboundAccount(
                known ? port.budget() : port.strangers(),
                tenancy.network(),
                known,
                channel.eventLoop(),
                port.settings().firstBytesTimeout(),
                new InboundAccount.Reading() {
                    @Override
                    public void pause(boolean stop) {
                        reading.overBudget(stop);
                    }

                    @Override
                    public void tooSlow(String how) {
                        violated(how);
                    }
                });
    }

    /** Returns the object that counts the answer bytes that the client has not read. */
    public UnreadBytes unread() {
        return unread;
    }

    private void queueChanged(long before, long after) {
        long counted = UnreadBytes.countedChange(before, after);
        if (counted != 0) {
            ServerProtocol known = protocol;
            if (known != null && !known.countsAnswers()) {
                unread.add(counted);
            }
        }
    }

    @Override
    public long unsentBytes() {
        return unread.bytes();
    }

    @Override
    public long takenBytes() {
        return unread.taken();
    }

    @Override
    public int takenStepBytes() {
        return unread.stepBytes();
    }

    @Override
    public void giveUp() {
        long counted = unread.giveUp();
        port.unsent().leaving(counted);
        channel.close().addListener(done -> port.unsent().leaving(-counted));
    }

    /**
     * Returns whether the body of a request arrives too slowly after its grace period. The measurement starts again
     * when the server resumes reading after a pause.
     *
     * @param arrivedBytes the number of bytes of the body that have arrived so far
     */
    @Override
    public boolean isTooSlow(BodyPace pace, long arrivedBytes, long now) {
        return reading.isTooSlow(pace, arrivedBytes, now);
    }

    @Override
    public boolean hasPatience() {
        return calls.keepConnection() && !memory.isShort();
    }

    /** Describes why {@link #isTooSlow} returned true, as text for error messages. */
    @Override
    public String slowBody(BodyPace pace, long arrivedBytes, long now) {
        return reading.slowBody(pace, arrivedBytes, now);
    }

    /** Returns the {@link Share} of the new call's tenant, which counts the tenant's admitted calls. */
    Share share() {
        return tenancy.share();
    }

    /** Returns the handler of the calls, which provides the exported services and the accepted tokens. */
    public CallHandler handler() {
        return port.handler();
    }

    /** Called when a stream has made no progress for 10 s, even though its peer would have accepted bytes. */
    public void stalled(String method, long unsentBytes) {
        port.counters().stalled(method, channel.remoteAddress(), unsentBytes);
    }

    boolean isOf(EventLoop loop) {
        return channel.eventLoop() == loop;
    }

    /**
     * Closes the connection if nothing has been read during the idle timeout, no call is in flight and the peer reads
     * no bytes of its answers. The server first asks the client to stop sending calls, so that no call in flight is
     * lost. Must run on the event loop.
     *
     * @return the number of nanoseconds until the earliest time at which the connection can reach the idle timeout
     */
    long closeIfIdle(long now) {
        long patience = port.settings().idleTimeout().toNanos();
        OutputProgress output = OutputProgress.of(channel);
        boolean takes = output.isSending() && !output.equals(lastOutput);
        lastOutput = output;
        if (calls.areAny() || takes) {
            heardNanos = now;
        } else if (!leaving && now - heardNanos >= patience) {
            LOG.debug(
                    "Closing {}: nothing was read for {}",
                    channel,
                    port.settings().idleTimeout());
            leaving = true;
            goAway();
            closeWhenUnused();
            return patience;
        }
        return patience - (now - heardNanos);
    }

    @Override
    public InetAddress network() {
        return tenancy.network();
    }

    @Override
    public boolean isInUse() {
        return leaving || calls.mayKeepConnection();
    }

    @Override
    public boolean hasMadeCalls() {
        return calls.haveEnded();
    }

    @Override
    public long quietSinceNanos() {
        return calls.quietSinceNanos();
    }

    /**
     * Closes the connection so that the server can admit another connection, unless a call has arrived in the meantime.
     * The server first asks the client to stop sending calls, and closes the connection a second later if no call is
     * running. Any thread may call this method.
     *
     * @param stays an action that runs if the connection stays open for a call or is already closed
     */
    void giveWay(Runnable stays) {
        leaving = true;
        channel.eventLoop().execute(() -> {
            if (!channel.isOpen() || calls.keepConnection()) {
                leaving = false;
                stays.run();
                return;
            }
            LOG.debug(
                    "Closing {}: no call has been answered for a long time, and there are too many connections",
                    channel);
            goAway();
            closeWhenUnused();
        });
    }

    private void closeWhenUnused() {
        if (protocol == null || !channel.isOpen()) {
            return; // goAway() has closed the connection
        }
        channel.eventLoop()
                .schedule(
                        () -> {
                            if (calls.keepConnection()) {
                                closeWhenUnused();
                            } else {
                                closeWhenWritten();
                            }
                        },
                        LEAVE_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    /** Called when the protocol of this connection has been detected. */
    void speaks(ServerProtocol known) {
        protocol = known;
    }

    /** Asks the client to stop sending calls. Any thread may call this method. */
    void goAway() {
        ServerProtocol known = protocol;
        if (known == null) {
            channel.close();
        } else {
            queue.add(known.goAway(this));
        }
    }

    /**
     * Closes the connection because not even an error can be sent for a call, for example if memory is exhausted. The
     * caller then reports a lost connection.
     */
    public void unanswerable(Throwable cause) {
        Thrown.log(cause, shown -> LOG.error("Closing {}: a call could not be answered", channel, shown));
        channel.close();
    }

    /**
     * Closes the connection because the peer violated the protocol. Queued answers are still sent if the peer reads
     * them within a second, and later bytes from the peer are dropped.
     */
    public void violated(String how) {
        logClosing(how, null);
        closeWhenWritten();
        CloseWhenWritten.closeLater(channel, LEAVE_MILLIS);
    }

    /**
     * Logs why this connection is being closed: always at debug level, and as a warning at most once in ten seconds for
     * each reason.
     *
     * @param how the reason, which can contain text from the peer
     * @param cause the exception to log with its stack trace; null if the reason is not an exception
     */
    public void logClosing(String how, @Nullable Throwable cause) {
        LOG.debug("Closing {}: {}", channel, PeerText.text(how), cause);
        String reason = cause == null ? how : cause.getClass().getSimpleName() + how;
        port.counters().closing(reason, () -> "Closing " + channel + ": " + PeerText.text(how), cause);
    }

    /**
     * Closes the connection after its queued answers have been written. Later bytes from the peer are dropped. Must run
     * on the event loop.
     */
    public void closeWhenWritten() {
        if (!ending) {
            ending = true;
            queue.add(new CloseWhenWritten(channel, this::outputEnded));
        }
    }

    private void outputEnded() {
        port.counters().outputEnded(channel);
        reading.drop();
    }

    /** Called when the channel is closed. Answers to the calls of this connection are no longer needed. */
    public void closed() {
        reading.closed();
        calls.disconnected();
        memory.closed();
        unread.release();
        tenancy.closed();
    }
}
