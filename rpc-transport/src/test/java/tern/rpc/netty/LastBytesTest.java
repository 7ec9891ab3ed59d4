package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.peer.RawFrame;
import tern.rpc.serialization.hessian.HessianSerializer;

/** Tests that queued bytes are still delivered when the server closes the connection. */
class LastBytesTest {

    private static final int ANSWER_BYTES = 8 << 20;

    private final ServerTransportSettings settings = ServerTransportSettings.onPort(0);
    private final ServerCounters counters = new ServerCounters();
    private final SlowChannel channel = new SlowChannel();
    private final ServerConnection connection = new ServerConnection(
            new ServerPort(
                    settings,
                    new DrainingTest.NoCalls(),
                    counters,
                    InboundBudget.forAll(settings.maxInboundBytes()),
                    InboundBudget.forStrangers(settings.maxInboundBytes()),
                    new FairBudget(settings.maxHeadBytes()),
                    new UnsentBudget(settings.maxStreamUnsentBytes(), settings.maxUnsentBytes()),
                    new Tenancy.Of(),
                    new IdleSweep(settings.idleTimeout(), List.of())),
            channel,
            InetAddress.getLoopbackAddress());

    @AfterEach
    void close() {
        connection.closed();
        channel.finishAndReleaseAll();
    }

    private void writeAnswerAndClose() {
        connection.queue().start(channel);
        channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[ANSWER_BYTES]));
        connection.closeWhenWritten();
        channel.runPendingTasks();
    }

    private void pass(long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
    }

    @Test
    void slowPeerGetsTheWholeAnswer() {
        writeAnswerAndClose();

        int parts = 64;
        for (int i = 0; i < parts; i++) {
            pass(CloseWhenWritten.STALL_MILLIS - 1);
            channel.peerReads(ANSWER_BYTES / parts);
        }

        assertThat(channel.taken()).isEqualTo(ANSWER_BYTES);
        assertThat(channel.isOutputShutdown()).isTrue();
    }

    @Test
    void peerThatReadsNothingIsGivenUp() {
        writeAnswerAndClose();
        channel.peerReads(1_000);

        pass(CloseWhenWritten.STALL_MILLIS);
        assertThat(channel.isOpen()).isTrue();
        pass(CloseWhenWritten.STALL_MILLIS);
        assertThat(channel.isOpen()).isFalse();
        assertThat(channel.taken()).isEqualTo(1_000);
    }

    @Test
    void peerHasTimeToReadTheLastBytesAndToClose() {
        writeAnswerAndClose();
        channel.peerReads(ANSWER_BYTES);
        assertThat(counters.ending()).isEqualTo(1);
        connection.wantsBytes(false);
        assertThat(channel.config().isAutoRead()).isTrue();

        channel.writeInbound(Unpooled.wrappedBuffer(new byte[10]));
        assertThat(channel.inboundMessages()).isEmpty();
        pass(CloseWhenWritten.LINGER_MILLIS - 1);
        assertThat(channel.isOpen()).isTrue();
        pass(1);
        assertThat(channel.isOpen()).isFalse();
        assertThat(counters.ending()).isZero();
    }

    @Test
    void peerThatReadsIsNotIdle() {
        long patience = settings.idleTimeout().toNanos();
        long now = System.nanoTime();
        channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[ANSWER_BYTES]));
        for (int i = 0; i < 10; i++) {
            now += patience;
            channel.peerReads(100);
            connection.closeIfIdle(now);
            assertThat(channel.isOpen()).isTrue();
        }

        connection.closeIfIdle(now + patience + Duration.ofSeconds(1).toNanos());
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void idleClientIsAskedToSendNoCallsBeforeItsConnectionIsClosed() {
        connection.queue().start(channel);
        connection.speaks(new DubboProtocol(HessianSerializer.builder().build(), 0));
        channel.peerReads(1_000);
        long patience = settings.idleTimeout().toNanos();
        long idle = System.nanoTime() + patience;

        connection.closeIfIdle(idle);
        connection.closeIfIdle(idle + patience);
        channel.runPendingTasks();

        assertThat(channel.taken()).isEqualTo(RawFrame.readOnly(1).bytes().length);
        assertThat(channel.isOutputShutdown()).isFalse();
        pass(1_000);
        channel.runPendingTasks();
        assertThat(channel.isOutputShutdown()).isTrue();
    }
}
