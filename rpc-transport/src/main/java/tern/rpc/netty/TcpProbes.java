package tern.rpc.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import java.time.Duration;
import jdk.net.ExtendedSocketOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the operating system probe silent connections. A client can vanish without closing its connection, for example
 * if its machine or its network fails. While a stream on this connection sends nothing, only such a probe reveals that
 * the client has vanished. Without probes, the stream would never end.
 */
final class TcpProbes {

    private static final Logger LOG = LoggerFactory.getLogger(TcpProbes.class);

    /** The time from an unanswered probe to the next probe (docs/limits.md). */
    static final int INTERVAL_SECONDS = 10;

    /** After {@value} unanswered probes, the connection counts as lost (docs/limits.md). */
    static final int PROBES = 3;

    /** The maximum that Linux accepts as the time before the first probe. */
    private static final long MAX_SILENCE_SECONDS = Short.MAX_VALUE;

    private TcpProbes() {}

    /**
     * Starts the probes of a connection. If the platform does not support setting the times of the probes, its default
     * times apply.
     *
     * @param isEpoll whether the channel uses epoll; otherwise it uses NIO
     * @param silence the time without received bytes before the first probe
     */
    static void start(Channel channel, boolean isEpoll, Duration silence) {
        ChannelConfig config = channel.config();
        int seconds = (int) Math.max(1, Math.min(MAX_SILENCE_SECONDS, silence.toSeconds()));
        try {
            config.setOption(ChannelOption.SO_KEEPALIVE, true);
            if (isEpoll) {
                Epoll.setTimes(config, seconds);
            } else {
                Nio.setTimes(config, seconds);
            }
        } catch (ChannelException e) {
            // the options of a channel cannot be set if its client has already closed the connection
            LOG.debug("{} cannot be probed", channel, e);
        } catch (NoClassDefFoundError e) {
            LOG.debug("The module jdk.net is missing, so the default times of the platform apply to probes", e);
        }
    }

    // The socket options are set in two nested classes, so that a missing library (jdk.net or Netty's epoll) causes an
    // error only if its options are used.

    private static final class Nio {
        static void setTimes(ChannelConfig config, int seconds) {
            config.setOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), seconds);
            config.setOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL), INTERVAL_SECONDS);
            config.setOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT), PROBES);
        }
    }

    private static final class Epoll {
        static void setTimes(ChannelConfig config, int seconds) {
            config.setOption(EpollChannelOption.TCP_KEEPIDLE, seconds);
            config.setOption(EpollChannelOption.TCP_KEEPINTVL, INTERVAL_SECONDS);
            config.setOption(EpollChannelOption.TCP_KEEPCNT, PROBES);
        }
    }
}
