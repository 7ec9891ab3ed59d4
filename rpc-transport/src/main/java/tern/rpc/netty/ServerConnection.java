package tern.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetAddress;
import java.net.SocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeerText;
import tern.rpc.Thrown;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.ServiceLookup;

/**
 * One socket of a server with its calls, its write queue and its time limits. Fields without a comment are confined to
 * the event loop.
 */
public final class ServerConnection implements SilentConnections.Open, SlowReaders.Open {

    private static final Logger LOG = LoggerFactory.getLogger(ServerConnection.class);

    private static final long SWEEP_MILLIS = 20;

    /** Time for a peer that violated the protocol to read the error. */
    private static final long LINGER_MILLIS = 1_000;

    /**
     * No more requests are read while there are more than this number of unsent bytes. Reading resumes below the low
     * watermark (docs/limits.md).
     */
    private static final long HIGH_WATERMARK = 1 << 20;

    private static final long LOW_WATERMARK = 512 << 10;

    /** A request body that arrives at fewer bytes per second is aborted after its grace period (docs/limits.md). */
    private static final long SLOWEST_BODY_BYTES = 1 << 10;

    /**
     * Queued answers are counted in steps of this power of two, so that small answers do not change counters that all
     * connections share.
     */
    private static final int QUEUE_STEP_BITS = 16;

    private static final AtomicIntegerFieldUpdater<ServerConnection> IN_FLIGHT =
            AtomicIntegerFieldUpdater.newUpdater(ServerConnection.class, "inFlight");

    private static final AtomicLongFieldUpdater<ServerConnection> UNSENT =
            AtomicLongFieldUpdater.newUpdater(ServerConnection.class, "unsent");

    private static final AtomicLongFieldUpdater<ServerConnection> UNPACKED =
            AtomicLongFieldUpdater.newUpdater(ServerConnection.class, "unpacked");

    /** One connection may at any time decompress at most one in this number of the bytes for requests. */
    private static final int PARTS_UNPACKED = 4;

    /** The counter of a closed connection. It is far below any sum, so later changes have no effect. */
    private static final long CLOSED = Long.MIN_VALUE / 2;

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
    private volatile int inFlight; // changed by IN_FLIGHT
    private volatile long unsent; // changed by UNSENT
    private volatile long unpacked; // changed by UNPACKED
    private volatile long taken; // written only by the event loop
    private List<NettyServerCall> calls = Collections.emptyList(); // replaced by a growing list while there are calls
    private @Nullable InboundAccount
            inbound; // created for the first bytes that count; visible to the calls that own them
    private volatile @Nullable ServerProtocol protocol;
    private volatile @Nullable Principal peerPrincipal;
    private volatile boolean known; // true if the caller is authenticated, or authentication is not required
    private volatile boolean sweeping; // true while there are calls; written only by the event loop
    private long heads; // number of bytes held by headers of open requests
    private boolean closed;
    private boolean paused; // true while paused because the peer does not read answers
    private boolean unwanted; // true while paused by the protocol
    private boolean overBudget; // true while paused because the memory for requests is used up
    private long readingSinceNanos = System.nanoTime(); // time at which the last pause ended
    private long heardNanos = System.nanoTime();
    private volatile long quietSinceNanos = heardNanos; // written only by the event loop, like the two fields below
    private volatile boolean hasMadeCalls;
    private volatile boolean leaving; // true while the connection is being closed to make room; set by any thread

    /**
     * @param host the address of the peer
     */
    ServerConnection(ServerPort port, Channel channel, InetAddress host) {
        this.port = port;
        this.channel = channel;
        this.tenancy = new Tenancy(port.tenants(), host, channel.remoteAddress());
        this.known = !port.handler().asksWhoCalls();
    }

    /** Called when the channel is open. */
    void opened() {
        queue.start(channel);
        port.idle().opened(channel.eventLoop());
    }

    public ServerTransportSettings settings() {
        return port.settings();
    }

    public WriteQueue queue() {
        return queue;
    }

    @Override
    public SocketAddress remoteAddress() {
        return channel.remoteAddress();
    }

    /** The subject of the client's certificate; null if there is none. */
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
     * Called when the caller was authenticated and admitted. The limits for unknown callers then no longer apply. Any
     * thread may call this, also repeatedly.
     */
    public void callerIsKnown() {
        if (known) {
            return;
        }
        try {
            channel.eventLoop().execute(this::leaveStrangers);
        } catch (RejectedExecutionException e) {
            // the event loops have ended, and with them this connection
        }
    }

    private void leaveStrangers() {
        if (!known) { // several calls may have been admitted at the same time
            known = true;
            if (inbound != null) {
                inbound.moveTo(port.budget());
            }
        }
    }

    /** Creates an id for a frame that is not an answer. */
    public long newId() {
        return ThreadLocalRandom.current().nextLong();
    }

    /** Called when bytes were read. Reading continues only after the peer has taken its queued answers. */
    public void heard() {
        heardWithoutPause();
        if (hasMuchUnsent() && !paused) {
            paused = true;
            setAutoRead();
        }
    }

    /** Called when bytes were read by a protocol that must keep reading so that its writes can continue. */
    public void heardWithoutPause() {
        heardNanos = System.nanoTime();
    }

    private void resumeReading() {
        if (paused && queue.queuedBytes() < LOW_WATERMARK) {
            paused = false;
            setAutoRead();
        }
    }

    /** Whether the peer has so many unread bytes that no more should be produced for it. */
    public boolean hasMuchUnsent() {
        return queue.queuedBytes() > HIGH_WATERMARK;
    }

    /** Sets whether the protocol wants more bytes. The default is true. */
    public void wantsBytes(boolean wanted) {
        if (unwanted == wanted) {
            unwanted = !wanted;
            setAutoRead();
        }
    }

    private void setAutoRead() {
        boolean reading = isReading();
        if (reading && !channel.config().isAutoRead()) {
            readingSinceNanos = System.nanoTime();
        }
        channel.config().setAutoRead(reading);
    }

    private boolean isReading() {
        return !paused && !unwanted && !overBudget;
    }

    /** Whether another call may be accepted. */
    public boolean mayTakeCall() {
        return inFlight < port.settings().maxInFlight();
    }

    /** Called when a request was read completely. */
    public void received(NettyServerCall call) {
        arriving(call);
        complete(call);
    }

    /** Called when the first part of a request has arrived. Its deadline is watched until it is answered. */
    public void arriving(NettyServerCall call) {
        if (calls.isEmpty()) {
            calls = new ArrayList<>();
        }
        calls.add(call);
        if (!sweeping) {
            sweeping = true;
            sweepLater();
        }
    }

    /** Called when a request has arrived completely and can be served. */
    public void complete(NettyServerCall call) {
        port.counters().received();
        IN_FLIGHT.incrementAndGet(this);
        port.handler().handle(call);
    }

    /** Counts a call that was refused and answered here. */
    public void refused(Refusal reason) {
        port.handler().refused(reason);
    }

    /**
     * Adds complete messages of requests (on the event loop), or removes messages that were decoded or dropped (on any
     * thread).
     *
     * @param bytes as {@linkplain InboundAccount#counted counted}; negative for removed messages
     */
    public void kept(int bytes) {
        if (bytes != 0) {
            inbound().kept(bytes);
        }
    }

    /**
     * Changes the number of bytes of incomplete messages. Called after each read.
     *
     * @param bytes as {@linkplain InboundAccount#counted counted}; may be negative
     */
    public void incomplete(int bytes) {
        if (inbound != null || (bytes != 0 && channel.isOpen())) { // otherwise the bytes would never be returned
            inbound().incomplete(bytes);
        }
    }

    /** Called when a message of a request is complete, so the connection's turn is over. */
    public void messageComplete() {
        if (inbound != null) {
            inbound.messageComplete();
        }
    }

    private InboundAccount inbound() {
        InboundAccount made = inbound;
        if (made == null) {
            made = new InboundAccount(
                    known ? port.budget() : port.strangers(),
                    known,
                    channel.eventLoop(),
                    port.settings().firstBytesTimeout(),
                    new InboundAccount.Reading() {
                        @Override
                        public void pause(boolean stop) {
                            overBudget = stop;
                            setAutoRead();
                        }

                        @Override
                        public void tooSlow(String how) {
                            violated(how);
                        }
                    });
            inbound = made;
        }
        return made;
    }

    /**
     * Counts the headers of a request until {@link #headGone}, if there is room. Runs on the event loop.
     *
     * @return the reason for a refusal, for messages; null if the headers are counted
     */
    public @Nullable String holdHead(int bytes) {
        if (closed) {
            return null;
        }
        FairBudget all = port.heads();
        if (!all.hasRoom(heads)) {
            return "headers of open requests hold " + all.used() + " of " + all.maxBytes() + " bytes, " + heads
                    + " of them on this connection (a quarter of rpc.limits.max-inbound-bytes)";
        }
        heads += bytes;
        all.add(bytes);
        return null;
    }

    /**
     * Counts bytes that a compressed request is about to expand to, until {@link #unpacked}. Any thread may call this.
     * Threads that call this at the same moment may all be admitted.
     *
     * @return the reason for a refusal, for messages; null if there is room
     */
    public @Nullable String unpacks(int bytes) {
        InboundBudget all = port.budget();
        long most = all.maxBytes() / PARTS_UNPACKED;
        if (unpacked + bytes > most) {
            return "this connection has " + unpacked + " of " + most
                    + " bytes unpacked (a quarter of rpc.limits.max-inbound-bytes)";
        }
        if (all.used() + bytes > all.maxBytes()) {
            return all.used() + " of " + all.maxBytes()
                    + " bytes are held for requests (set by rpc.limits.max-inbound-bytes)";
        }
        UNPACKED.addAndGet(this, bytes);
        all.add(bytes);
        return null;
    }

    /** Releases decompressed bytes that are no longer needed. Any thread may call this. */
    public void unpacked(int bytes) {
        if (bytes > 0) {
            UNPACKED.addAndGet(this, -bytes);
            port.budget().add(-bytes);
        }
    }

    /** Releases counted headers that are no longer needed. Runs on the event loop. */
    public void headGone(int bytes) {
        if (!closed) { // after the close, all of them have been returned together
            heads -= bytes;
            port.heads().add(-bytes);
        }
    }

    /**
     * Changes the number of unsent bytes of answers. Any thread may call this.
     *
     * @param bytes the number of queued bytes; negative for bytes that clients have taken
     */
    public void unsent(long bytes) {
        if (UNSENT.addAndGet(this, bytes) > CLOSED / 2) {
            port.unsent().add(bytes);
            if (bytes < 0) {
                long before = taken; // changed only by the event loop
                taken = before - bytes;
            }
        }
    }

    private void queueChanged(long before, long after) {
        long steps = (after >> QUEUE_STEP_BITS) - (before >> QUEUE_STEP_BITS);
        if (steps != 0) {
            ServerProtocol known = protocol;
            if (known != null && !known.countsAnswers()) {
                unsent(steps << QUEUE_STEP_BITS);
            }
        }
    }

    @Override
    public long unsentBytes() {
        return Math.max(0, unsent); // far below 0 after the close
    }

    @Override
    public long takenBytes() {
        return taken;
    }

    @Override
    public void giveUp() {
        long counted = releaseUnsent();
        port.unsent().leaving(counted);
        channel.close().addListener(done -> port.unsent().leaving(-counted));
    }

    /**
     * Stops counting this connection.
     *
     * @return the number of bytes counted until now
     */
    private long releaseUnsent() {
        long counted = UNSENT.getAndSet(this, CLOSED);
        if (counted <= CLOSED / 2) {
            return 0;
        }
        port.unsent().add(-counted);
        return counted;
    }

    /**
     * Whether further calls should be refused, because unread answers fill the memory of the server and this connection
     * has many of them.
     */
    public boolean refusesCalls() {
        return unsent > HIGH_WATERMARK && port.unsent().isShort();
    }

    /**
     * The reason why no further unary answer is written, for messages; null if there is none. Any thread may call this.
     */
    public @Nullable String refusesAnswer() {
        long waiting = unsent;
        if (waiting < CLOSED / 2) {
            return "its connection is being closed";
        }
        if (waiting <= HIGH_WATERMARK || !refusesCalls()) {
            return null;
        }
        return waiting + " bytes of answers wait for this connection, which is read too slowly, and "
                + port.unsent().used() + " for all; above " + port.unsent().manyBytes()
                + " slow readers get no more (derived from rpc.limits.max-unsent-answers)";
    }

    /**
     * The reason why a stream may not queue a message, for messages; null if it may. Any thread may call this.
     *
     * @param ofStream the number of bytes of the stream that already wait
     * @param message the size of the message
     */
    public @Nullable String refusesUnsent(long ofStream, int message) {
        return port.unsent().refusal(ofStream, message, unsent);
    }

    /**
     * Whether the body of a request is too slow after its grace period. Times in which this server did not read do not
     * count.
     */
    public boolean isTooSlow(long arrivedBytes, long beganNanos, long now) {
        long late = sinceReadable(beganNanos, now)
                - port.settings().firstBytesTimeout().toNanos();
        return isReading() && late > 0 && arrivedBytes < SLOWEST_BODY_BYTES * TimeUnit.NANOSECONDS.toSeconds(late);
    }

    /** Describes the result of {@link #isTooSlow} for messages. */
    public String slowBody(long arrivedBytes, long beganNanos, long now) {
        return arrivedBytes + " bytes of the request came in "
                + TimeUnit.NANOSECONDS.toSeconds(sinceReadable(beganNanos, now))
                + " s; at least " + SLOWEST_BODY_BYTES + " a second are expected after "
                + port.settings().firstBytesTimeout().toMillis() + " ms (set by rpc.limits.first-bytes-timeout)";
    }

    private long sinceReadable(long beganNanos, long now) {
        return now - (readingSinceNanos - beganNanos > 0 ? readingSinceNanos : beganNanos);
    }

    /** The tenant share that counts a new call. */
    Share share() {
        return tenancy.share();
    }

    /** The exported services. */
    public ServiceLookup services() {
        return port.handler().services();
    }

    /** Whether authorizers must be asked before the caller learns that its method does not exist. */
    public boolean asksAuthorizers() {
        return port.handler().asksAuthorizers();
    }

    /** The accepted tokens. */
    public AcceptedTokens tokens() {
        return port.handler().tokens();
    }

    /** Called when a call was answered. Any thread may call this. */
    void answered() {
        IN_FLIGHT.decrementAndGet(this);
        port.counters().answered();
    }

    /**
     * Counts a stream that could be sent but made no progress for 10 s.
     *
     * @param unsentBytes the number of bytes queued for it
     */
    public void stalled(String method, long unsentBytes) {
        port.counters().stalled();
        LOG.warn(
                "A stream of {} to {} has not moved for 10 s although its peer and the socket would take more; {} bytes"
                        + " are queued. This is a defect of the server; please report it with a thread dump",
                method,
                channel.remoteAddress(),
                unsentBytes);
    }

    private void sweepLater() {
        channel.eventLoop().schedule(this::sweep, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void sweep() {
        long now = System.nanoTime();
        try {
            if (calls.removeIf(call -> isOver(call, now))) {
                hasMadeCalls = true;
                quietSinceNanos = now;
            }
        } finally {
            sweeping = !calls.isEmpty();
            if (sweeping) {
                sweepLater();
            } else {
                calls = Collections.emptyList();
            }
        }
    }

    /** Checks one call. A failure must not prevent the check of the others. */
    private static boolean isOver(NettyServerCall call, long now) {
        try {
            return call.isOverOrExpires(now);
        } catch (Throwable e) {
            Thrown.log(e, shown -> LOG.error("A call could not be ended in time", shown));
            return !call.isOpen();
        }
    }

    boolean isOf(EventLoop loop) {
        return channel.eventLoop() == loop;
    }

    /**
     * Closes the connection if nothing was read for too long and no call is in flight. Runs on the event loop.
     *
     * @return the number of nanoseconds after which the next check is useful
     */
    long closeIfIdle(long now) {
        long patience = port.settings().idleTimeout().toNanos();
        if (inFlight > 0) {
            heardNanos = now;
        } else if (now - heardNanos >= patience) {
            LOG.debug(
                    "Closing {}: nothing was read for {}",
                    channel,
                    port.settings().idleTimeout());
            channel.close();
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
        return leaving || inFlight > 0 || sweeping; // an incomplete request also counts
    }

    @Override
    public boolean hasMadeCalls() {
        return hasMadeCalls;
    }

    @Override
    public long quietSinceNanos() {
        return quietSinceNanos;
    }

    /**
     * Closes the connection to make room for another one, unless a call has arrived meanwhile. It first asks the client
     * to send no further calls, and closes a little later if no call is running. Any thread may call this.
     *
     * @param stays runs if a call has arrived, or if the connection is already closed
     */
    void giveWay(Runnable stays) {
        leaving = true;
        channel.eventLoop().execute(() -> {
            if (!channel.isOpen() || !calls.isEmpty() || inFlight > 0) {
                leaving = false;
                stays.run();
                return;
            }
            LOG.debug("Closing {}: no call was answered for long, and there are too many connections", channel);
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
                            if (calls.isEmpty() && inFlight == 0) {
                                closeWhenWritten();
                            } else {
                                closeWhenUnused();
                            }
                        },
                        LINGER_MILLIS,
                        TimeUnit.MILLISECONDS);
    }

    /** Called when the protocol of this connection is known. */
    void speaks(ServerProtocol known) {
        protocol = known;
    }

    /** Asks the client to send no further calls. Any thread may call this. */
    void goAway() {
        ServerProtocol known = protocol;
        if (known == null) {
            channel.close();
        } else {
            queue.add(known.goAway(this));
        }
    }

    /**
     * Closes the connection because not even an error can be sent for a call, for example for lack of memory. The
     * caller notices the lost connection.
     */
    public void unanswerable(Throwable cause) {
        Thrown.log(cause, shown -> LOG.error("Closing {}: a call could not be answered", channel, shown));
        channel.close();
    }

    /**
     * Called when the peer violated the protocol. It gets its queued answers, and all later bytes from it are dropped.
     */
    public void violated(String how) {
        logClosing(how, null);
        closeWhenWritten();
    }

    /**
     * Logs why this connection is being closed. Warnings are logged at a limited rate over all connections, debug lines
     * always.
     *
     * @param how the reason, which may quote the peer
     * @param cause logged with its trace; null for none
     */
    public void logClosing(String how, @Nullable Throwable cause) {
        LOG.debug("Closing {}: {}", channel, PeerText.text(how), cause);
        port.counters().closing(() -> "Closing " + channel + ": " + PeerText.text(how), cause);
    }

    /** Closes the connection after its queued answers were written. All later bytes from the peer are dropped. */
    public void closeWhenWritten() {
        queue.add(new Close());
        channel.eventLoop().schedule(() -> channel.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
    }

    /**
     * Closes only the output. Closing the whole connection while there are unread bytes would reset it, and the last
     * answer would be lost.
     */
    private void endOutput(boolean written) {
        if (!written || !(channel instanceof DuplexChannel duplex)) {
            channel.close();
            return;
        }
        channel.config().setAutoRead(true);
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null) {
            duplex.shutdownOutput();
        } else {
            tls.closeOutbound().addListener(done -> duplex.shutdownOutput());
        }
    }

    /** Called when the channel is closed, so no answers of its calls are needed any more. */
    public void closed() {
        for (NettyServerCall call : List.copyOf(calls)) {
            try {
                call.disconnected();
            } catch (Throwable e) { // the other calls must also be notified, and all held bytes returned
                Thrown.log(e, shown -> LOG.error("A call of a lost connection could not be ended", shown));
            }
        }
        calls = Collections.emptyList();
        if (inbound != null) {
            inbound.closed();
        }
        closed = true;
        port.heads().add(-heads);
        releaseUnsent();
        tenancy.closed();
    }

    /** Closes the connection after everything that was queued before has been written. */
    private final class Close extends WriteCommand {
        @Override
        public int bytes() {
            return 0;
        }

        @Override
        protected void write(WriteBatch batch) {
            // nothing to write; only its place in the queue matters
        }

        @Override
        protected void written() {
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> endOutput(done.isSuccess()));
        }
    }
}
