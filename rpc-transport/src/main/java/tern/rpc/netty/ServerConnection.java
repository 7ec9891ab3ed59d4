package tern.rpc.netty;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.limit.Refusal;
import tern.rpc.limit.Share;
import tern.rpc.transport.AcceptedTokens;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServiceLookup;

/**
 * One socket of a server: its calls, its write queue, its time limits. Fields without a word on them belong to the event
 * loop.
 */
public final class ServerConnection {

    private static final Logger LOG = LoggerFactory.getLogger(ServerConnection.class);

    /** How often an idle connection is looked at in the time after which it is closed. */
    private static final int IDLE_CHECKS = 4;

    private static final long SWEEP_MILLIS = 20;

    /** How long a peer that broke the protocol may take to read why. */
    private static final long LINGER_MILLIS = 1_000;

    /** Above this many unsent bytes no more requests are read; below the other they are again (reliability table). */
    private static final long HIGH_WATERMARK = 1 << 20;

    private static final long LOW_WATERMARK = 512 << 10;

    /** A body slower than this much a second is given up once its time of grace is over (reliability table, slow peers). */
    private static final long SLOWEST_BODY_BYTES = 1 << 10;

    private final Channel channel;
    private final ServerTransportSettings settings;
    private final CallHandler handler;
    private final NettyServerTransport.Counters counters;
    private final WriteQueue queue = new WriteQueue(this::resumeReading);
    private final AtomicLong nextId = new AtomicLong(ThreadLocalRandom.current().nextLong());
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Tenancy tenancy;
    private final InboundAccount inbound;
    private final List<NettyServerCall> calls = new ArrayList<>();
    private volatile @Nullable ServerProtocol protocol;
    private volatile @Nullable Principal peerPrincipal;
    private final InboundBudget budget; // once its caller is known
    private volatile boolean known; // who calls, or nobody asks
    private boolean sweeping;
    private @Nullable Future<?> idleCheck;
    private boolean paused; // by answers that the peer does not read
    private boolean unwanted; // by the protocol
    private boolean overBudget; // by the memory for requests of all connections
    private long heardNanos = System.nanoTime();

    ServerConnection(
            Channel channel,
            ServerTransportSettings settings,
            CallHandler handler,
            NettyServerTransport.Counters counters,
            InboundBudget budget,
            InboundBudget strangers,
            Tenancy tenancy) {
        this.tenancy = tenancy;
        this.budget = budget;
        this.known = !handler.asksWhoCalls();
        this.inbound = new InboundAccount(
                known ? budget : strangers,
                known,
                channel.eventLoop(),
                settings.firstBytesTimeout(),
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
        this.channel = channel;
        this.settings = settings;
        this.handler = handler;
        this.counters = counters;
    }

    /** The channel is open. */
    void opened() {
        queue.start(channel);
        closeWhenIdle();
    }

    public ServerTransportSettings settings() {
        return settings;
    }

    public WriteQueue queue() {
        return queue;
    }

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

    /** Somebody at the other end has shown who he is, and was let in: no stranger any more. Any thread, any number of times. */
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
            inbound.moveTo(budget);
        }
    }

    /** An id for a frame that is not an answer. */
    public long newId() {
        return nextId.getAndIncrement();
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
        return inFlight.get() < settings.maxInFlight();
    }

    /** A request was read. */
    public void received(NettyServerCall call) {
        arriving(call);
        complete(call);
    }

    /** A request has begun to come; its time is looked after until it is answered. */
    public void arriving(NettyServerCall call) {
        calls.add(call);
        if (!sweeping) {
            sweeping = true;
            sweepLater();
        }
    }

    /** A request that was arriving can be served. */
    public void complete(NettyServerCall call) {
        counters.received();
        inFlight.incrementAndGet();
        handler.handle(call);
    }

    /** A call was refused here and answered. */
    public void refused(Refusal reason) {
        handler.refused(reason);
    }

    /** What its requests hold of the memory for those of all connections. */
    public InboundAccount inbound() {
        return inbound;
    }

    /** Whether the body of a request is slower than bodies may be, once its time of grace is over. */
    public boolean isTooSlow(long arrivedBytes, long beganNanos, long now) {
        long late = now - beganNanos - settings.firstBytesTimeout().toNanos();
        return late > 0 && arrivedBytes < SLOWEST_BODY_BYTES * TimeUnit.NANOSECONDS.toSeconds(late);
    }

    /** For people: what {@link #isTooSlow} found. */
    public String slowBody(long arrivedBytes, long beganNanos, long now) {
        return arrivedBytes + " bytes of the request came in " + TimeUnit.NANOSECONDS.toSeconds(now - beganNanos)
                + " s; at least " + SLOWEST_BODY_BYTES + " a second are expected after "
                + settings.firstBytesTimeout().toMillis() + " ms (set by rpc.limits.first-bytes-timeout)";
    }

    /** What a call that comes now counts to. */
    Share share() {
        return tenancy.share();
    }

    /** What is exported. */
    public ServiceLookup services() {
        return handler.services();
    }

    /** What callers have to show. */
    public AcceptedTokens tokens() {
        return handler.tokens();
    }

    /** A call was answered. Any thread. */
    void answered() {
        inFlight.decrementAndGet();
        counters.answered();
    }

    private void sweepLater() {
        channel.eventLoop().schedule(this::sweep, SWEEP_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void sweep() {
        long now = System.nanoTime();
        try {
            calls.removeIf(call -> call.isOverOrExpires(now));
        } finally {
            sweeping = !calls.isEmpty();
            if (sweeping) {
                sweepLater();
            }
        }
    }

    /** Looks often enough that none is closed whose last call is being answered just now. */
    private void closeWhenIdle() {
        long patience = settings.idleTimeout().toNanos();
        long now = System.nanoTime();
        if (!channel.isOpen()) {
            return;
        }
        if (inFlight.get() > 0) {
            heardNanos = now;
        } else if (now - heardNanos >= patience) {
            LOG.debug("Closing {}: nothing was read for {}", channel, settings.idleTimeout());
            channel.close();
            return;
        }
        long pause = Math.min(patience / IDLE_CHECKS, Math.max(1, patience - (now - heardNanos)));
        idleCheck = channel.eventLoop().schedule(this::closeWhenIdle, pause, TimeUnit.NANOSECONDS);
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

    /** The peer broke the protocol: it gets what was queued for it, and no more is read but to be dropped. */
    public void violated(String how) {
        LOG.info("Closing {}: {}", channel, how);
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
        if (idleCheck != null) {
            idleCheck.cancel(false);
        }
        for (NettyServerCall call : List.copyOf(calls)) {
            call.disconnected();
        }
        calls.clear();
        inbound.closed();
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
