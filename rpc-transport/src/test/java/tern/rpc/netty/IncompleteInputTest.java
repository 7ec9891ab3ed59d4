package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests when an incomplete frame closes its connection. */
class IncompleteInputTest {

    private final List<String> closed = new ArrayList<>();
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelInboundHandlerAdapter());

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    private ChannelHandlerContext context() {
        return channel.pipeline().firstContext();
    }

    private void pass(Duration time) {
        channel.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
        channel.runScheduledPendingTasks();
    }

    private SlowReading begin(Duration idleTimeout) {
        SlowReading connection = new SlowReading(channel, idleTimeout);
        new IncompleteInput(connection, closed::add).arrived(context(), 100, 0);
        return connection;
    }

    @Test
    void slowFrameClosesItsConnection() {
        begin(Duration.ofHours(1));

        pass(SlowReading.FIRST_BYTES);

        assertThat(closed).containsExactly(SlowReading.REASON);
    }

    @Test
    void slowFrameClosesAConnectionWithCallsWhenThePatienceEnds() {
        SlowReading connection = begin(Duration.ofHours(1));
        connection.patient = true;
        pass(SlowReading.FIRST_BYTES);
        pass(Duration.ofSeconds(30));
        assertThat(closed).isEmpty();

        connection.patient = false;
        pass(Duration.ofSeconds(1));

        assertThat(closed).containsExactly(SlowReading.REASON);
    }

    @Test
    void slowFrameMayTakeAtMostTheIdleTimeout() {
        SlowReading connection = begin(Duration.ofNanos(1));
        connection.patient = true;

        pass(SlowReading.FIRST_BYTES);

        assertThat(closed).containsExactly(SlowReading.REASON);
    }

    @Test
    void patienceEndsWhenAQuarterOfTheMemoryForRequestsIsUsed() {
        InboundBudget budget = InboundBudget.forAll(400);
        FairBudget.Part part = budget.join(InetAddress.getLoopbackAddress());

        budget.add(part, 100);
        assertThat(budget.isShort()).isFalse();
        budget.add(part, 1);
        assertThat(budget.isShort()).isTrue();
    }
}
