package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.peer.CapturedLog;

class ServerConnectionTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ServerConnection connection = connection(ServerTransportSettings.onPort(0));

    private ServerConnection connection(ServerTransportSettings settings) {
        ServerPort port = new ServerPort(
                settings,
                new DrainingTest.NoCalls(),
                new NettyServerTransport.Counters(),
                InboundBudget.forAll(settings.maxInboundBytes()),
                InboundBudget.forStrangers(settings.maxInboundBytes()),
                new FairBudget(settings.maxHeadBytes()),
                new UnsentBudget(settings.maxStreamUnsentBytes(), settings.maxUnsentBytes()),
                new Tenancy.Of(),
                new IdleSweep(settings.idleTimeout(), List.of()));
        return new ServerConnection(port, channel, InetAddress.getLoopbackAddress());
    }

    @AfterEach
    void close() {
        connection.closed();
        channel.finishAndReleaseAll();
    }

    private boolean isTooSlowAfter(long seconds) {
        long now = System.nanoTime() + TimeUnit.DAYS.toNanos(1);
        return connection.isTooSlow(100, now - TimeUnit.SECONDS.toNanos(seconds), now);
    }

    @Test
    void bodyThatIsSlowAfterItsGracePeriodIsNoticed() {
        assertThat(isTooSlowAfter(9)).isFalse();
        assertThat(isTooSlowAfter(12)).isTrue();
    }

    @Test
    void peerIsNotBlamedWhileTheServerDoesNotRead() {
        connection.wantsBytes(false);
        assertThat(isTooSlowAfter(12)).isFalse();

        connection.wantsBytes(true);
        assertThat(isTooSlowAfter(12)).isTrue();
    }

    @Test
    void timeInWhichTheServerDidNotReadDoesNotCount() {
        connection.wantsBytes(false);
        connection.wantsBytes(true);

        long now = System.nanoTime();
        assertThat(connection.isTooSlow(100, now - TimeUnit.SECONDS.toNanos(60), now))
                .isFalse();
    }

    @Test
    void closingsThatPeersCauseAreLoggedAtALimitedRate() {
        try (CapturedLog log = new CapturedLog(NettyServerTransport.class.getName())) {
            for (int i = 0; i < 10_000; i++) {
                connection.logClosing("frame " + i + " is\nbroken", null);
            }

            assertThat(log.lines()).hasSizeBetween(1, 5_000);
            assertThat(log.lines().get(0)).contains("frame 0 is\\nbroken");
        }
    }
}
