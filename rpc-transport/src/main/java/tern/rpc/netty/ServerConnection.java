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
 * One socket of a server: its calls, its write queue, its time limits. Fields without a word on them belong to the event
 * loop.
 */
public final class ServerConnection implements SilentConnections.Open, SlowReaders.Open {

    private static final Logger LOG = LoggerFactory.getLogger(ServerConnection.class);

    private static final long SWEEP_MILLIS = 20;

    /** How long a peer that broke the protocol may take to read why. */
    private static final long LINGER_MILLIS = 1_000;

    /** Above this many unsent bytes no more requests are read; below the other they are again (docs/limits.md). */
    private static final long HIGH_WATERMARK = 1 << 20;

    private static final long LOW_WATERMARK = 512 << 10;

    /** A body slower than this much a second is given up once its time of grace is over (docs/limits.md). */
    private static final long SLOWEST_BODY_BYTES = 1 << 10;

    /** Queued answers count in steps of this power of two, so that small ones do not touch what all connections share. */
    private static final int QUEUE_STEP_BITS = 16;

    private static final AtomicIntegerFieldUpdater<ServerConnection> IN_FLIGHT =
            AtomicIntegerFieldUpdater.newUpdater(ServerConnection.class, "inFlight");

    private static final AtomicLongFieldUpdater<ServerConnection> UNSENT =
            AtomicLongFieldUpdater.newUpdater(ServerConnection.class, "unsent");

    private static final AtomicLongFieldUpdater<ServerConnection> UNPACKED =
            AtomicLongFieldUpdater.newUpdater(ServerConnection.class, "unpacked");

    /** One connection may unpack one of so many parts of the memory for requests at a time. */
    private static final int PARTS_UNPACKED = 4;

    /** Far below anything that answers can add up to: nothing of a closed connection counts any more. */
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
    private volatile long taken; // written by the event loop
    private List<NettyServerCall> calls = Collections.emptyList(); // replaced by one that can grow while there are any
    private @Nullable InboundAccount inbound; // made for the first bytes that count; seen by the calls that have them
    private volatile @Nullable ServerProtocol protocol;
    private volatile @Nullable Principal peerPrincipal;
    private volatile boolean known; // who calls, or nobody asks
    private volatile boolean sweeping; // there are calls; written by the event loop
    private long heads; // bytes that the headers of open requests hold
    private boolean closed;
    private boolean paused; // by answers that the peer does not read
    private boolean unwanted; // by the protocol
    private boolean overBudget; // by the memory for requests of all connections
    private long heardNanos = System.nanoTime();
    private volatile long quietSinceNanos = heardNanos; // written by the event loop, as the next two
    private volatile boolean hasMadeCalls;
    private volatile boolean leaving; // gives way to another connection; set by any thread

    /** @param host at the other end */
    ServerConnection(ServerPort port, Channel channel, InetAddress host) {
        this.port = port;
        this.channel = channel;
        this.tenancy = new Tenancy(port.tenants(), host, channel.remoteAddress());
        this.known = !port.handler().asksWhoCalls();
    }

    /** The channel is open. */
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

    /** Whom the client's certificate names; null when it showed none. */
    @Nullable
    Principal peerPrincipal() {
        return peerPrincipal;
    }

    /** The TLS handshake is done. */
    void secured(@Nullable Principal peer) {
        peerPrincipal = peer;
        if (peer != null) {
            tenancy.named(peer);
            callerIsKnown();
        }
    }

    /**
     * Somebody at the other end has shown who he is, and was let in: no stranger any more. Any thread, any number of
     * times.
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
        if (!known) { // several calls may have been let in at once
            known = true;
            if (inbound != null) {
                inbound.moveTo(port.budget());
            }
        }
    }

    /** An id for a frame that is not an answer. */
    public long newId() {
        return ThreadLocalRandom.current().nextLong();
    }

    /** Something was read; more only when the peer has taken what was queued for it. */
    public void heard() {
        heardWithoutPause();
        if (hasMuchUnsent() && !paused) {
            paused = true;
            setAutoRead();
        }
    }

    /** Something was read of a protocol that has to be read for its writes to go on. */
    public void heardWithoutPause() {
        heardNanos = System.nanoTime();
    }

    private void resumeReading() {
        if (paused && queue.queuedBytes() < LOW_WATERMARK) {
            paused = false;
            setAutoRead();
        }
    }

    /** Whether the peer leaves so much unread that no more should be made for it. */
    public boolean hasMuchUnsent() {
        return queue.queuedBytes() > HIGH_WATERMARK;
    }

    /** Whether the protocol wants more bytes, which it does until it says otherwise. */
    public void wantsBytes(boolean wanted) {
        if (unwanted == wanted) {
            unwanted = !wanted;
            setAutoRead();
        }
    }

    private void setAutoRead() {
        channel.config().setAutoRead(!paused && !unwanted && !overBudget);
    }

    /** Whether one more call may be taken. */
    public boolean mayTakeCall() {
        return inFlight < port.settings().maxInFlight();
    }

    /** A request was read. */
    public void received(NettyServerCall call) {
        arriving(call);
        complete(call);
    }

    /** A request has begun to come; its time is looked after until it is answered. */
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

    /** A request that was arriving can be served. */
    public void complete(NettyServerCall call) {
        port.counters().received();
        IN_FLIGHT.incrementAndGet(this);
        port.handler().handle(call);
    }

    /** A call was refused here and answered. */
    public void refused(Refusal reason) {
        port.handler().refused(reason);
    }

    /**
     * Complete messages of requests came, on the event loop, or somebody has read or dropped some, on any thread.
     *
     * @param bytes as {@linkplain InboundAccount#counted counted}; negative for those that are gone
     */
    public void kept(int bytes) {
        if (bytes != 0) {
            inbound().kept(bytes);
        }
    }

    /**
     * To be called after each read: the bytes held of messages that are not complete are more or fewer by so many.
     *
     * @param bytes as {@linkplain InboundAccount#counted counted}
     */
    public void incomplete(int bytes) {
        if (inbound != null || (bytes != 0 && channel.isOpen())) { // else nobody would give them back
            inbound().incomplete(bytes);
        }
    }

    /** A message of a request is complete: the connection has had its turn. */
    public void messageComplete() {
        if (inbound != null) {
            inbound.messageComplete();
        }
    }

    /** Whether it is not read for the memory that requests hold, so that its peer cannot be blamed for being slow. */
    public boolean isPausedByBudget() {
        return overBudget;
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
     * The headers of a request are kept until {@link #headGone}, unless there is no room for them. Event loop.
     *
     * @return why they are not, for people; null if they are
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
     * A compressed request is about to be unpacked by so many bytes, which count until {@link #unpacked}. Any thread;
     * those that ask at
     * the same moment may all be let in.
     *
     * @return why there is no room for them, for people; null if there is
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

    /** Unpacked bytes are not needed any more. Any thread. */
    public void unpacked(int bytes) {
        if (bytes > 0) {
            UNPACKED.addAndGet(this, -bytes);
            port.budget().add(-bytes);
        }
    }

    /** Headers that were held are not needed any more. Event loop. */
    public void headGone(int bytes) {
        if (!closed) { // else they were given back together
            heads -= bytes;
            port.heads().add(-bytes);
        }
    }

    /**
     * Answers were queued, or clients have taken some. Any thread.
     *
     * @param bytes negative for those that have left
     */
    public void unsent(long bytes) {
        if (UNSENT.addAndGet(this, bytes) > CLOSED / 2) {
            port.unsent().add(bytes);
            if (bytes < 0) {
                long before = taken; // changed by the event loop only
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
        return Math.max(0, unsent); // far below 0 when it is closed
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

    /** Nothing of it counts any more. @return bytes that counted */
    private long releaseUnsent() {
        long counted = UNSENT.getAndSet(this, CLOSED);
        if (counted <= CLOSED / 2) {
            return 0;
        }
        port.unsent().add(-counted);
        return counted;
    }

    /** Whether no more calls should be taken, as answers fill the memory of the server and this connection has many. */
    public boolean refusesCalls() {
        return unsent > HIGH_WATERMARK && port.unsent().isShort();
    }

    /** Why no answer of a unary call is written any more, for people; null if it is. Any thread. */
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
     * Why a stream may not queue a message, for people; null if it may. Any thread.
     *
     * @param ofStream bytes of the stream that wait already
     * @param message bytes of the message
     */
    public @Nullable String refusesUnsent(long ofStream, int message) {
        return port.unsent().refusal(ofStream, message, unsent);
    }

    /** Whether the body of a request is slower than bodies may be, once its time of grace is over. */
    public boolean isTooSlow(long arrivedBytes, long beganNanos, long now) {
        long late = now - beganNanos - port.settings().firstBytesTimeout().toNanos();
        return late > 0 && arrivedBytes < SLOWEST_BODY_BYTES * TimeUnit.NANOSECONDS.toSeconds(late);
    }

    /** For people: what {@link #isTooSlow} found. */
    public String slowBody(long arrivedBytes, long beganNanos, long now) {
        return arrivedBytes + " bytes of the request came in " + TimeUnit.NANOSECONDS.toSeconds(now - beganNanos)
                + " s; at least " + SLOWEST_BODY_BYTES + " a second are expected after "
                + port.settings().firstBytesTimeout().toMillis() + " ms (set by rpc.limits.first-bytes-timeout)";
    }

    /** What a call that comes now counts to. */
    Share share() {
        return tenancy.share();
    }

    /** What is exported. */
    public ServiceLookup services() {
        return port.handler().services();
    }

    /** Whether a call that leads nowhere has to be judged before its caller is told so. */
    public boolean asksAuthorizers() {
        return port.handler().asksAuthorizers();
    }

    /** What callers have to show. */
    public AcceptedTokens tokens() {
        return port.handler().tokens();
    }

    /** A call was answered. Any thread. */
    void answered() {
        IN_FLIGHT.decrementAndGet(this);
        port.counters().answered();
    }

    /**
     * A stream could be sent to the peer, and has not moved for 10 s.
     *
     * @param unsentBytes queued for it
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

    /** One call that fails must not keep the others from being looked at. */
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
     * Closes the connection if nothing was read for too long and no call is in flight. Event loop.
     *
     * @return nanoseconds after which that may have become so
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
        return leaving || inFlight > 0 || sweeping; // a request that is not complete counts, too
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
     * Closes the connection in favour of another one, unless a call has come meanwhile: it asks the client to send no new
     * calls, and closes a little later, when no call is running. Any thread.
     *
     * @param stays told if a call has come, or if the connection was closed already
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
            return; // goAway() has closed it
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

    /** The protocol of this connection is known. */
    void speaks(ServerProtocol known) {
        protocol = known;
    }

    /** Asks the client to send no new calls. Any thread. */
    void goAway() {
        ServerProtocol known = protocol;
        if (known == null) {
            channel.close();
        } else {
            queue.add(known.goAway(this));
        }
    }

    /** Not even an error can be sent for a call, as when memory is short: its caller sees that the connection is lost. */
    public void unanswerable(Throwable cause) {
        Thrown.log(cause, shown -> LOG.error("Closing {}: a call could not be answered", channel, shown));
        channel.close();
    }

    /** The peer broke the protocol: it gets what was queued for it, and no more is read but to be dropped. */
    public void violated(String how) {
        LOG.info("Closing {}: {}", channel, PeerText.text(how));
        closeWhenWritten();
    }

    /** The peer gets what was queued for it, and no more is read but to be dropped. */
    public void closeWhenWritten() {
        queue.add(new Close());
        channel.eventLoop().schedule(() -> channel.close(), LINGER_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** A close at once would reset the connection where bytes are unread, and take the last answer along. */
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

    /** The channel is closed: nobody waits for the calls any more. */
    public void closed() {
        for (NettyServerCall call : List.copyOf(calls)) {
            try {
                call.disconnected();
            } catch (Throwable e) { // the others must be told, too, and all that is held be given back
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

    /** Closes when everything queued before is written. */
    private final class Close extends WriteCommand {
        @Override
        public int bytes() {
            return 0;
        }

        @Override
        protected void write(WriteBatch batch) {
            // nothing: it only stands behind what was queued before
        }

        @Override
        protected void written() {
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> endOutput(done.isSuccess()));
        }
    }
}
