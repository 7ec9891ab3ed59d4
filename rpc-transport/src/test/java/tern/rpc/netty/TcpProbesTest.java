package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.socket.nio.NioChannelOption;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import tern.rpc.ServiceDescriptor;

class TcpProbesTest {

    /** The times of a connection's probes, which are read on its event loop while the connection is open. */
    private record Probes(boolean on, int silenceSeconds, int intervalSeconds, int count) {

        static Probes of(ChannelConfig config, boolean isEpoll) {
            return new Probes(
                    config.getOption(ChannelOption.SO_KEEPALIVE),
                    isEpoll
                            ? config.getOption(EpollChannelOption.TCP_KEEPIDLE)
                            : config.getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE)),
                    isEpoll
                            ? config.getOption(EpollChannelOption.TCP_KEEPINTVL)
                            : config.getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPINTERVAL)),
                    isEpoll
                            ? config.getOption(EpollChannelOption.TCP_KEEPCNT)
                            : config.getOption(NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPCOUNT)));
        }
    }

    /** A protocol that accepts any bytes and reports the options of the connection. */
    private record Reporting(CompletableFuture<Probes> seen, boolean isEpoll) implements ServerProtocol {

        @Override
        public String name() {
            return "reporting";
        }

        @Override
        public Match match(ByteBuf firstBytes) {
            return Match.YES;
        }

        @Override
        public void prepare(ServiceDescriptor service) {}

        @Override
        public ChannelHandler serverHandler(ServerConnection connection) {
            return new ChannelInboundHandlerAdapter() {
                @Override
                public void handlerAdded(ChannelHandlerContext context) {
                    seen.complete(Probes.of(context.channel().config(), isEpoll));
                }
            };
        }

        @Override
        public WriteCommand goAway(ServerConnection connection) {
            return WriteCommand.task(channel -> {});
        }
    }

    @Test
    void connectionIsProbedWhenNothingIsReceivedForTheIdleTimeout() throws Exception {
        EventLoops loops = EventLoops.start(1);
        boolean isEpoll = loops.isEpoll();
        CompletableFuture<Probes> seen = new CompletableFuture<>();
        ServerTransportSettings settings = ServerTransportSettings.onPort(0);
        NettyServerTransport transport =
                new NettyServerTransport(settings, loops, List.of(new Reporting(seen, isEpoll)));
        try {
            transport.start(new DrainingTest.NoCalls());
            try (Socket client = new Socket(InetAddress.getLoopbackAddress(), transport.port())) {
                client.getOutputStream().write(1);

                assertThat(seen.get(20, TimeUnit.SECONDS))
                        .isEqualTo(new Probes(
                                true,
                                (int) settings.idleTimeout().toSeconds(),
                                TcpProbes.INTERVAL_SECONDS,
                                TcpProbes.PROBES));
            }
        } finally {
            transport.close();
            loops.close();
        }
    }
}
