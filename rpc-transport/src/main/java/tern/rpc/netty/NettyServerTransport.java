package tern.rpc.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.ServiceDescriptor;
import tern.rpc.transport.CallHandler;
import tern.rpc.transport.ServerTransport;

/**
 * Accepts connections of all protocols on one port. The first bytes of a connection identify its protocol. Thread-safe.
 */
public final class NettyServerTransport implements ServerTransport {

    private static final Logger LOG = LoggerFactory.getLogger(NettyServerTransport.class);
    private static final int BACKLOG = 1_024;
    private static final long CLOSE_SECONDS = 5;

    /** The minimum pause between two searches for silent connections if the first search found none to close. */
    private static final long BETWEEN_LOOKS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * The pause after accepting a connection has failed. During the pause, no connections are accepted and silent
     * connections are closed.
     */
    private static final long AFTER_FAILURE_MILLIS = 100;

    /** The time for which the limit on connections stays lowered after accepting a connection has failed. */
    private static final long LOWERED_NANOS = TimeUnit.SECONDS.toNanos(10);

    /**
     * The limit on connections is never lowered below 1/{@value} of its normal value. With a very low limit, addresses
     * with many connections could not be distinguished from addresses with few connections.
     */
    private static final int LOWEST_SHARE = 4;

    /** The wildcard address, which no peer has. */
    private static final InetAddress NO_NETWORK = new InetSocketAddress(0).getAddress();

    private static final Duration BETWEEN_WARNINGS = Duration.ofSeconds(10);

    /** The reduced limit on connections. The limit applies for {@link #LOWERED_NANOS} after {@code sinceNanos}. */
    private record Lowered(int connections, long sinceNanos) {}

    private final ServerTransportSettings settings;
    private final DescriptorLimit limit;
    private final EventLoops loops;
    private final List<? extends ServerProtocol> protocols;
    private final TlsGate gate;
    private final Map<Channel, ServerConnection> connections = new ConcurrentHashMap<>();
    private final Set<ServerConnection> leaving =
            ConcurrentHashMap.newKeySet(); // silent connections that are being closed to make room for new ones

    // The earliest time of the next search for silent connections when the limit on all connections is reached. Set
    // when a search would find no silent connection for a new connection from any address.
    private final AtomicLong nextLookNanos;
    // for each address whose last search found no silent connection, the earliest time of the next search; removed when
    // the last connection from the address is closed
    private final Map<InetAddress, Long> nextLookOfNetwork = new ConcurrentHashMap<>();
    private final NanoClock clock;
    private final LongAdder acceptedConnections = new LongAdder();
    private final Map<InetAddress, Integer> perNetwork = new ConcurrentHashMap<>();
    private final Tenancy.Of tenants = new Tenancy.Of();
    private final IdleSweep idle;
    private final SeldomWarning failed = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);
    private final SeldomWarning tooMany = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);
    private final ServerCounters counters = new ServerCounters();
    private final InboundBudget budget;
    private final InboundBudget strangers;
    private final FairBudget heads;
    private final UnsentBudget unsent;
    // the current limit on connections, which is lower than the configured limit only for some time after a connection
    // could not be accepted
    private volatile Lowered lowered;
    private volatile @Nullable Channel listening;
    private volatile int port;
    private volatile boolean draining;

    /**
     * @param loops the event loops; closing the transport does not close them
     * @throws IllegalArgumentException if keys or trusted certificates cannot be used
     */
    public NettyServerTransport(
            ServerTransportSettings settings, EventLoops loops, List<? extends ServerProtocol> protocols) {
        this(settings, loops, protocols, NanoClock.SYSTEM, DescriptorLimit.ofProcess());
    }

    /**
     * @param clock the clock that measures how long connections have been silent
     * @param descriptors the number of file descriptors that the process may open
     */
    NettyServerTransport(
            ServerTransportSettings settings,
            EventLoops loops,
            List<? extends ServerProtocol> protocols,
            NanoClock clock,
            long descriptors) {
        this.settings = settings;
        this.limit = DescriptorLimit.of(settings.maxConnections(), descriptors);
        this.clock = clock;
        this.nextLookNanos = new AtomicLong(clock.nanoTime());
        this.lowered = new Lowered(limit.connections(), clock.nanoTime());
        this.idle = new IdleSweep(settings.idleTimeout(), connections.values());
        this.budget = InboundBudget.forAll(settings.maxInboundBytes());
        this.strangers = InboundBudget.forStrangers(settings.maxInboundBytes());
        this.heads = new FairBudget(settings.maxHeadBytes());
        this.unsent = new UnsentBudget(settings.maxStreamUnsentBytes(), settings.maxUnsentBytes());
        unsent.whenMany(new SlowReaders(connections.values(), unsent, loops.group())::queued);
        this.loops = loops;
        this.protocols = List.copyOf(protocols);
        this.gate = new TlsGate(settings.tls(), settings.clearTextToo(), NanoClock.SYSTEM);
    }

    @Override
    public void prepare(ServiceDescriptor service) {
        protocols.forEach(protocol -> protocol.prepare(service));
    }

    @Override
    public void start(CallHandler handler) {
        InetSocketAddress address = settings.address() == null
                ? new InetSocketAddress(settings.port())
                : new InetSocketAddress(settings.address(), settings.port());
        ServerPort shared =
                new ServerPort(settings, handler, counters, budget, strangers, heads, unsent, tenants, idle);
        ChannelFuture bound = new ServerBootstrap()
                .group(loops.group())
                .channel(loops.serverChannel())
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .option(ChannelOption.SO_REUSEADDR, true)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        acceptFailed(context.channel(), cause);
                    }
                })
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, FairReads.SHARED)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel accepted) {
                        accept(accepted, shared);
                    }
                })
                .bind(address)
                .awaitUninterruptibly();
        if (!bound.isSuccess()) {
            throw new UncheckedIOException(
                    "rpc.server.port " + settings.port() + " of "
                            + (settings.address() == null ? "all addresses" : settings.address())
                            + " cannot be bound: " + bound.cause().getMessage(),
                    bound.cause() instanceof IOException known ? known : new IOException(bound.cause()));
        }
        // loads the classes for acceptFailed() in advance, because no class can be loaded without a free descriptor
        SilentConnections.choose(List.of(), NO_NETWORK, false, 1, clock.nanoTime());
        listening = bound.channel();
        port = ((InetSocketAddress) bound.channel().localAddress()).getPort();
        if (limit.connections() < settings.maxConnections()) {
            LOG.info(
                    "Port {} accepts at most {} connections instead of {} (set by rpc.limits.max-connections), because"
                            + " the process may open only {} files and connections (ulimit -n)",
                    port,
                    limit.connections(),
                    settings.maxConnections(),
                    limit.descriptors());
        }
        if (settings.tls() != null && settings.clearTextToo()) {
            LOG.warn(
                    "Port {} serves clear text in addition to TLS (set by rpc.server.ssl.optional); remove it when"
                            + " every client uses TLS",
                    port);
        }
    }

    /**
     * Called when accepting a connection has failed, usually because the process has no free file descriptor. Closes
     * silent connections, and lowers the limit for some time. The server then accepts connections above the limit and
     * closes them at once, so that connections from other addresses do not wait behind them. The method stops accepting
     * connections first, because its other steps can fail without descriptors. If the server continued to accept, the
     * event loop would fail again and again.
     */
    private void acceptFailed(Channel socket, Throwable cause) {
        socket.config().setAutoRead(false);
        socket.eventLoop()
                .schedule(
                        () -> {
                            if (socket.isOpen()) { // drain() might have closed the socket
                                socket.config().setAutoRead(true);
                            }
                        },
                        AFTER_FAILURE_MILLIS,
                        TimeUnit.MILLISECONDS);
        long now = clock.nanoTime();
        List<ServerConnection> silent =
                SilentConnections.choose(connections.values(), NO_NETWORK, false, limit.together(), now);
        int suffices = connections.size() - silent.size();
        lowered = new Lowered(Math.max(limit.connections() / LOWEST_SHARE, suffices), now);
        failed.warn(
                () -> "A connection to port " + port + " was not accepted: " + cause.getMessage()
                        + ". The process may open "
                        + (limit.descriptors() == DescriptorLimit.UNKNOWN ? "too few" : limit.descriptors())
                        + " files and connections (ulimit -n), and this server has " + connections.size() + " of "
                        + limit.connections() + " connections. Raise ulimit -n, or lower rpc.limits.max-connections; "
                        + silent.size() + " silent connections are closed",
                null);
        leave(silent);
    }

    /** Returns the current limit on connections. */
    private int maxConnections() {
        Lowered recent = lowered;
        if (recent.connections() >= limit.connections()) {
            return limit.connections();
        }
        if (clock.nanoTime() - recent.sinceNanos() >= LOWERED_NANOS) {
            lowered = new Lowered(limit.connections(), recent.sinceNanos());
            return limit.connections();
        }
        return recent.connections();
    }

    private void accept(Channel accepted, ServerPort shared) {
        acceptedConnections.increment();
        InetAddress host = ((InetSocketAddress) accepted.remoteAddress()).getAddress();
        InetAddress network = Tenancy.network(host);
        // This listener is shared by all connections and references few objects, which saves memory when there are
        // thousands of idle connections.
        ChannelFutureListener closed = done -> closed(accepted, network);
        int ofNetwork = perNetwork.merge(network, 1, Integer::sum);
        // The listener decrements the connection count. The listener is added before any step that can fail, because
        // the count must decrease in any case.
        accepted.closeFuture().addListener(closed);
        if (!hasRoom(network, ofNetwork)) {
            tooMany.warn(
                    () -> "Closing a connection from " + host + ": "
                            + connections.size() + " of " + maxConnections() + " connections, "
                            + (ofNetwork - 1) + " of " + settings.maxConnectionsPerHost()
                            + " from this address, and no silent one could be closed instead. Some are kept for"
                            + " addresses with at most " + ConnectionShare.FEW + " connections"
                            + " (set by rpc.limits.max-connections and rpc.limits.max-connections-per-host)",
                    null);
            if (!accepted.closeFuture().isDone()) {
                // The connection must no longer be counted when its peer notices the close, because the peer might
                // connect again immediately. This code runs on the channel's event loop, so the close listener, which
                // decrements the connection count, has not run yet.
                accepted.closeFuture().removeListener(closed);
                closed(accepted, network);
            }
            accepted.close();
            return;
        }
        TcpProbes.start(accepted, loops.isEpoll(), settings.idleTimeout());
        ServerConnection connection = new ServerConnection(shared, accepted, host);
        connections.put(accepted, connection);
        if (accepted.closeFuture().isDone()) {
            forget(accepted); // the channel was closed before the connection was added
            return;
        }
        accepted.pipeline().addLast(new ProtocolDetector(protocols, connection, gate));
        if (draining) {
            connection.goAway(); // drain() might have run before this connection was added to the open connections
        }
    }

    private void closed(Channel accepted, InetAddress network) {
        if (perNetwork.merge(network, -1, NettyServerTransport::sumOrNothing) == null) {
            nextLookOfNetwork.remove(network);
        }
        forget(accepted);
    }

    private void forget(Channel accepted) {
        ServerConnection connection = connections.remove(accepted);
        if (connection != null) {
            leaving.remove(connection);
            connection.closed();
        }
    }

    /**
     * Returns whether one more connection is accepted. If a limit is reached, or the address has more than its share
     * ({@link ConnectionShare}), silent connections are closed to make room, possibly a little later.
     *
     * @param network the address of the peer; for IPv6 the first 64 bits
     * @param ofNetwork the number of connections from this address, including the new connection
     */
    private boolean hasRoom(InetAddress network, int ofNetwork) {
        boolean all = !ConnectionShare.hasFree(ofNetwork, connections.size() - leaving.size(), maxConnections());
        boolean own = ofNetwork > settings.maxConnectionsPerHost()
                && ofNetwork - leavingOf(network) > settings.maxConnectionsPerHost();
        if (!all && !own) {
            return true;
        }
        long now = clock.nanoTime();
        long next = nextLookNanos.get();
        if (leaving.size() >= limit.leaving() || (!own && now - next < 0) || isPaused(network, now)) {
            return false;
        }
        List<ServerConnection> silent =
                SilentConnections.choose(connections.values(), network, own, own ? 1 : limit.together(), now);
        if (silent.isEmpty()) {
            // For this address, the next search for silent connections must wait. A search for another address might
            // find a connection to close, because the choice depends on the address of the new connection.
            nextLookOfNetwork.put(network, now + BETWEEN_LOOKS_NANOS);
            if (!own && isNobodySilent(now)) {
                nextLookNanos.compareAndSet(next, now + BETWEEN_LOOKS_NANOS);
            }
            return false;
        }
        tooMany.warn(
                () -> silent.size() + " silent connections, the first from "
                        + silent.get(0).remoteAddress() + ", are closed for one from " + network + ": "
                        + connections.size() + " of " + maxConnections() + " connections, " + (ofNetwork - 1)
                        + " of " + settings.maxConnectionsPerHost() + " from its address"
                        + " (set by rpc.limits.max-connections and rpc.limits.max-connections-per-host)",
                null);
        leave(silent);
        return true;
    }

    private void leave(List<ServerConnection> silent) {
        for (ServerConnection each : silent) {
            leaving.add(each);
            each.giveWay(() -> leaving.remove(each));
        }
    }

    private boolean isPaused(InetAddress network, long now) {
        Long next = nextLookOfNetwork.get(network);
        return next != null && now - next < 0;
    }

    /**
     * Returns true if the server must refuse new connections from all addresses, because no silent connection can be
     * closed instead.
     */
    private boolean isNobodySilent(long now) {
        return SilentConnections.choose(connections.values(), NO_NETWORK, false, 1, now)
                .isEmpty();
    }

    private int leavingOf(InetAddress network) {
        int count = 0;
        for (ServerConnection each : leaving) {
            if (each.network().equals(network)) {
                count++;
            }
        }
        return count;
    }

    /** Returns the socket that accepts connections, for tests; null before {@link #start}. */
    @Nullable
    Channel socket() {
        return listening;
    }

    private static @Nullable Integer sumOrNothing(int count, int change) {
        return count + change == 0 ? null : Integer.valueOf(count + change);
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void drain() {
        draining = true;
        stopListening();
        connections.values().forEach(ServerConnection::goAway);
    }

    private void stopListening() {
        Channel socket = listening;
        if (socket != null) {
            socket.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Override
    public long acceptedConnections() {
        return acceptedConnections.sum();
    }

    @Override
    public int connections() {
        return connections.size();
    }

    @Override
    public int endingConnections() {
        return counters.ending();
    }

    @Override
    public long received() {
        return counters.receivedCalls();
    }

    @Override
    public int inFlight() {
        return counters.callsInFlight();
    }

    @Override
    public long stalledStreams() {
        return counters.stalledStreams();
    }

    @Override
    public long inboundBytes() {
        return budget.used() + strangers.used() + heads.used();
    }

    @Override
    public long unsentBytes() {
        return unsent.used();
    }

    @Override
    public long queuedBytes() {
        return connections.values().stream()
                .mapToLong(connection -> connection.queue().queuedBytes())
                .sum();
    }

    @Override
    public void close() {
        stopListening();
        List<ChannelFuture> closing =
                connections.keySet().stream().map(Channel::close).toList();
        closing.forEach(future -> future.awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS));
        gate.close();
    }
}
