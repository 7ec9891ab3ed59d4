package tern.rpc.netty;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.endpoint.DnsEndpoints;

/**
 * Opens a channel to a host name. Another thread looks up the name, because a lookup can block for seconds. Then the
 * addresses are tried as described in RFC 8305 (Happy Eyeballs). IPv6 and IPv4 addresses alternate. The next attempt
 * starts when the previous attempt has failed or has taken 250 ms. The first open channel is used. Confined to the
 * event loop.
 */
final class NamedHost {

    /** The recommended delay between two attempts, RFC 8305 section 5. */
    private static final long ATTEMPT_DELAY_MILLIS = 250;

    @ChannelHandler.Sharable
    private static final class NoHandler extends ChannelHandlerAdapter {}

    private static final Logger LOG = LoggerFactory.getLogger(NamedHost.class);

    private final Bootstrap bootstrap;
    private final EventLoop loop;
    private final String host;
    private final int port;
    private final long timeoutMillis;
    private final Promise<Channel> opened;
    private final List<ChannelFuture> running = new ArrayList<>();
    private List<InetAddress> addresses = List.of();
    private int next; // the index of the next address to try
    private boolean overtime; // true if the timeout has passed, so no new attempt starts

    private NamedHost(Bootstrap bootstrap, EventLoop loop, String host, int port, long timeoutMillis) {
        this.bootstrap = bootstrap;
        this.loop = loop;
        this.host = host;
        this.port = port;
        this.timeoutMillis = timeoutMillis;
        this.opened = loop.newPromise();
    }

    /**
     * Opens a channel.
     *
     * @param bootstrap creates channels on the event loop; its handler is replaced with a handler that does nothing
     * @param timeoutMillis the time limit of the lookup, and the time after which no new attempt starts
     * @param lookups runs the lookup, which blocks
     * @return the channel; the future completes on the event loop, before the channel has read any bytes
     */
    static Future<Channel> connect(
            Bootstrap bootstrap,
            EventLoop loop,
            String host,
            int port,
            long timeoutMillis,
            DnsEndpoints.Lookup lookup,
            Executor lookups) {
        bootstrap.handler(new NoHandler());
        NamedHost attempts = new NamedHost(bootstrap, loop, host, port, timeoutMillis);
        loop.schedule(attempts::giveUpLookup, timeoutMillis, TimeUnit.MILLISECONDS);
        lookups.execute(() -> attempts.look(lookup));
        return attempts.opened;
    }

    /**
     * Looks up the host, and reports the addresses or the failure on the event loop. Runs on the thread for lookups.
     */
    private void look(DnsEndpoints.Lookup lookup) {
        Runnable next;
        try {
            List<InetAddress> found = alternating(lookup.addressesOf(host));
            next = () -> found(found);
        } catch (UnknownHostException e) {
            next = () -> opened.tryFailure(new UnknownHostException("host " + host + " cannot be resolved"));
        } catch (RuntimeException | Error e) {
            next = () -> opened.tryFailure(e);
        }
        try {
            loop.execute(next);
        } catch (RejectedExecutionException e) {
            LOG.debug("The event loops were closed during the lookup of host {}", host, e);
        }
    }

    private void giveUpLookup() {
        if (addresses.isEmpty()) {
            opened.tryFailure(
                    new ConnectException("the lookup of host " + host + " took longer than " + timeoutMillis + " ms"));
        }
    }

    /** Alternates between the address families. Within each family, keeps the resolver's order. */
    static List<InetAddress> alternating(InetAddress... found) {
        List<InetAddress> first = new ArrayList<>();
        List<InetAddress> second = new ArrayList<>();
        Arrays.stream(found)
                .forEach(address -> (address.getClass() == found[0].getClass() ? first : second).add(address));
        List<InetAddress> all = new ArrayList<>(found.length);
        for (int i = 0; i < Math.max(first.size(), second.size()); i++) {
            if (i < first.size()) {
                all.add(first.get(i));
            }
            if (i < second.size()) {
                all.add(second.get(i));
            }
        }
        return all;
    }

    /** Returns the addresses in the given order, except that the known address comes first if it is one of them. */
    static List<InetAddress> startingWith(@Nullable InetAddress known, List<InetAddress> addresses) {
        int at = known == null ? -1 : addresses.indexOf(known);
        if (at <= 0) {
            return addresses;
        }
        List<InetAddress> ordered = new ArrayList<>(addresses);
        ordered.add(0, ordered.remove(at));
        return ordered;
    }

    private void found(List<InetAddress> found) {
        if (opened.isDone()) {
            return;
        }
        addresses = found;
        loop.schedule(() -> overtime = true, timeoutMillis, TimeUnit.MILLISECONDS);
        tryNext();
    }

    private void tryNext() {
        if (opened.isDone() || next == addresses.size() || overtime) {
            return;
        }
        int attempt = next++;
        ChannelFuture connecting = bootstrap.connect(new InetSocketAddress(addresses.get(attempt), port));
        running.add(connecting);
        connecting.addListener(done -> ended(connecting, attempt));
        loop.schedule(() -> tryAfter(attempt), ATTEMPT_DELAY_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Starts the attempt that follows the given one, unless it has started already. */
    private void tryAfter(int attempt) {
        if (next == attempt + 1) {
            tryNext();
        }
    }

    private void ended(ChannelFuture attempt, int index) {
        running.remove(attempt);
        if (attempt.isSuccess()) {
            if (opened.trySuccess(attempt.channel())) {
                running.forEach(other -> other.channel().close());
            } else {
                attempt.channel().close();
            }
            return;
        }
        tryAfter(index);
        if (running.isEmpty()) {
            opened.tryFailure(attempt.cause());
        }
    }
}
