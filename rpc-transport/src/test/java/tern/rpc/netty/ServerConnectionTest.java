package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.Response;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.transport.ServiceLookup;

class ServerConnectionTest {

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final UnsentBudget unsent = new UnsentBudget(1 << 20, 8 << 20);
    private final ServerConnection connection = connection(ServerTransportSettings.onPort(0));

    private ServerConnection connection(ServerTransportSettings settings) {
        ServerPort port = new ServerPort(
                settings,
                new DrainingTest.NoCalls(),
                new ServerCounters(),
                InboundBudget.forAll(settings.maxInboundBytes()),
                InboundBudget.forStrangers(settings.maxInboundBytes()),
                new FairBudget(settings.maxHeadBytes()),
                unsent,
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
        return connection.isTooSlow(new BodyPace(now - TimeUnit.SECONDS.toNanos(seconds)), 100, now);
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
        assertThat(connection.isTooSlow(new BodyPace(now - TimeUnit.SECONDS.toNanos(60)), 100, now))
                .isFalse();
    }

    @Test
    void bodyThatStopsAfterManyBytesIsNoticed() {
        long began = System.nanoTime() + TimeUnit.DAYS.toNanos(1);
        BodyPace pace = new BodyPace(began);

        assertThat(slowSeconds(pace, began, 8 << 20)).isEqualTo(32);
    }

    @Test
    void bodyThatArrivesSteadilyIsNeverTooSlow() {
        long began = System.nanoTime() + TimeUnit.DAYS.toNanos(1);
        BodyPace pace = new BodyPace(began);

        for (int second = 1; second < 3_600; second++) {
            assertThat(connection.isTooSlow(pace, 1_100L * second, began + TimeUnit.SECONDS.toNanos(second)))
                    .isFalse();
        }
    }

    /** Returns the number of seconds without further bytes after which a body counts as too slow. */
    private int slowSeconds(BodyPace pace, long began, long arrived) {
        int seconds = 1;
        while (!connection.isTooSlow(pace, arrived, began + TimeUnit.SECONDS.toNanos(seconds))) {
            seconds++;
        }
        return seconds;
    }

    private final class Call extends NettyServerCall {
        private final CallKind kind;

        Call(CallKind kind) {
            super(connection);
            this.kind = kind;
        }

        @Override
        public CallKind kind() {
            return kind;
        }

        @Override
        protected void discardRequest() {}

        @Override
        public String protocol() {
            return "test";
        }

        @Override
        public Invocation decode(ServiceLookup services, Admission admission) {
            throw new AssertionError();
        }

        @Override
        public void reply(Response response) {}

        @Override
        public void fail(Throwable failure, Metadata metadata) {}
    }

    private Call begin(CallKind kind) {
        Call call = new Call(kind);
        // the handler of this test refuses all calls, but the connection counts a call before it invokes the handler
        assertThatThrownBy(() -> connection.calls().complete(call)).hasMessage("a call came");
        return call;
    }

    @Test
    void healthChecksInFlightAreLimited() {
        Call first = begin(CallKind.HEALTH_CHECK);
        for (int i = 1; i < 16; i++) {
            assertThat(connection.calls().refusesCheck(new Call(CallKind.HEALTH_CHECK)))
                    .isNull();
            begin(CallKind.HEALTH_CHECK);
        }

        assertThat(connection.calls().refusesCheck(new Call(CallKind.HEALTH_CHECK)))
                .hasMessageContaining("16 of 16 health checks");
        assertThat(connection.calls().refusesCheck(new Call(CallKind.UNARY))).isNull();
        first.claimAnswer();
        assertThat(connection.calls().refusesCheck(new Call(CallKind.HEALTH_CHECK)))
                .isNull();
    }

    @ParameterizedTest
    @EnumSource
    void connectionIsInUseDuringEachCallButAWatch(CallKind kind) {
        assertThat(connection.isInUse()).isFalse();

        Call call = begin(kind);
        assertThat(connection.isInUse()).isEqualTo(kind != CallKind.HEALTH_WATCH);

        call.claimAnswer();
        assertThat(connection.isInUse()).isFalse();
    }

    @Test
    void unreadBytesCountUntilTheConnectionIsClosed() {
        connection.unread().add(5_000);

        connection.giveUp();

        assertThat(unsent.used()).isEqualTo(5_000);
        // the result is 0, so SlowReaders does not close the connection a second time
        assertThat(connection.unsentBytes()).isZero();
        assertThat(connection.unread().refusal()).isEqualTo("its connection is being closed");
        assertThat(connection.unread().refusal(0, 1, true)).isEqualTo("its connection is being closed");
        connection.closed();
        assertThat(unsent.used()).isZero();
    }

    @Test
    void eachReasonForClosingIsLoggedOnce() {
        try (CapturedLog log = new CapturedLog(ServerCounters.class.getName())) {
            for (int i = 0; i < 100; i++) {
                connection.logClosing("frame " + i + " is broken", null);
                connection.logClosing("stream " + i + " is broken", null);
                connection.logClosing("a frame could not be handled", new IllegalStateException());
                connection.logClosing("a frame could not be handled", new IllegalArgumentException());
            }

            assertThat(log.lines()).hasSize(4);
        }
    }

    @Test
    void textsOfPeersCauseFewLines() {
        try (CapturedLog log = new CapturedLog(ServerCounters.class.getName())) {
            for (int i = 0; i < 1_000; i++) {
                connection.logClosing("header " + "x".repeat(i % 30) + (char) ('a' + i % 26), null);
            }

            assertThat(log.lines()).hasSize(17);
        }
    }

    @Test
    void closingsThatPeersCauseAreLoggedAtALimitedRate() {
        try (CapturedLog log = new CapturedLog(ServerCounters.class.getName())) {
            for (int i = 0; i < 10_000; i++) {
                connection.logClosing("frame " + i + " is\nbroken", null);
            }

            assertThat(log.lines()).hasSize(1);
            assertThat(log.lines().get(0)).contains("frame 0 is\\nbroken");
        }
    }
}
