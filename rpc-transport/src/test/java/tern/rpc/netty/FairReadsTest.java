package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.RecvByteBufAllocator.ExtendedHandle;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FairReadsTest {

    private long now;
    private int looks;
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final FairReads all = new FairReads(() -> {
        looks++;
        return now;
    });
    private ExtendedHandle reads = grown();

    /**
     * Returns a connection whose receive buffer has grown to its maximum size. The event loop has just begun to read
     * the connection.
     */
    private ExtendedHandle grown() {
        return grown(null);
    }

    /** @param reading the connection; null for a client's connection */
    private ExtendedHandle grown(@Nullable SocketReading reading) {
        reads = (ExtendedHandle) all.newHandle(reading);
        for (int i = 0; i < 10; i++) {
            reads.reset(new DefaultChannelConfig(channel));
            assertThat(fullRead(0)).isTrue();
            reads.readComplete();
        }
        assertThat(reads.guess()).isEqualTo(FairReads.MAX_BYTES);
        reads.reset(new DefaultChannelConfig(channel));
        looks = 0;
        return reads;
    }

    @Test
    void aConnectionWhoseBytesAreExpensiveGivesWayToOthers() {
        assertThat(fullRead(FairReads.TURN_NANOS)).isFalse();
    }

    @Test
    void readsOfOneTurnShareItsTime() {
        assertThat(fullRead(FairReads.TURN_NANOS / 3)).isTrue();
        assertThat(fullRead(FairReads.TURN_NANOS / 3)).isTrue();
        assertThat(fullRead(FairReads.TURN_NANOS / 3 + 3)).isFalse();
    }

    /**
     * The time for which a connection may occupy the event loop must be long enough for the small calls of 200 callers.
     * If it were shorter, fewer calls would be answered together, and each call would need more processor time.
     */
    @Test
    void theSmallCallsOf200CallersFitIntoOneTurn() {
        assertThat(fullRead(200 * TimeUnit.MICROSECONDS.toNanos(5))).isTrue();
        assertThat(reads.guess()).isEqualTo(FairReads.MAX_BYTES);
    }

    @Test
    void aTurnBeginsWithItsFirstRead() {
        fullRead(FairReads.TURN_NANOS / 2);
        reads.readComplete();
        now += 10 * FairReads.TURN_NANOS;
        reads.reset(new DefaultChannelConfig(channel));

        assertThat(fullRead(FairReads.TURN_NANOS / 2)).isTrue();
    }

    @Test
    void cheapBytesAreReadAsOftenInARowAsBefore() {
        for (int i = 1; i < FairReads.MAX_READS_IN_A_ROW; i++) {
            assertThat(fullRead(1)).as("read %d", i).isTrue();
        }
        assertThat(fullRead(1)).isFalse();
    }

    @Test
    void theNextBufferIsAsSmallAsTheBytesAreExpensive() {
        fullRead(8 * FairReads.TURN_NANOS);

        assertThat(reads.guess()).isEqualTo(FairReads.MAX_BYTES / 8);
    }

    @Test
    void aBufferNeverBecomesTiny() {
        fullRead(1_000_000 * FairReads.TURN_NANOS);

        assertThat(reads.guess()).isEqualTo(FairReads.MIN_BYTES);
    }

    @Test
    void theBufferGrowsAgainOnceBytesAreCheap() {
        fullRead(1_000_000 * FairReads.TURN_NANOS);
        for (int i = 0; i < 60; i++) {
            reads.reset(new DefaultChannelConfig(channel));
            fullRead(1);
        }

        assertThat(reads.guess()).isEqualTo(FairReads.MAX_BYTES);
    }

    @Test
    void aConnectionGetsAShorterTurnWhileManyAreBusy() {
        ExtendedHandle connection = grown();
        beBusy(100);
        reads = connection;

        assertThat(fullRead(FairReads.ROUND_NANOS / 100 - 1)).isTrue();
        assertThat(fullRead(1)).isFalse();
    }

    @Test
    void fewBusyConnectionsShareTheLongestTurn() {
        ExtendedHandle connection = grown();
        beBusy(4);
        reads = connection;

        assertThat(fullRead(FairReads.TURN_NANOS / 4 - 1)).isTrue();
        assertThat(fullRead(1)).isFalse();
    }

    @Test
    void manyBusyConnectionsOfOneNetworkDoNotShortenTheTurnsOfAnother() {
        LoopShares shares = new LoopShares(Runnable::run);
        beBusy(100, ofNetwork(shares, 2));
        ExtendedHandle connection = grown(ofNetwork(shares, 3));
        reads = connection;

        assertThat(fullRead(FairReads.TURN_NANOS - 1)).isTrue();
    }

    @Test
    void busyNetworksShareTheTime() {
        LoopShares shares = new LoopShares(Runnable::run);
        ExtendedHandle connection = grown(ofNetwork(shares, 200));
        for (int network = 2; network < 102; network++) {
            beBusy(1, ofNetwork(shares, network));
        }
        reads = connection;

        assertThat(fullRead(FairReads.ROUND_NANOS / 100 - 1)).isTrue();
        assertThat(fullRead(1)).isFalse();
    }

    @Test
    void aTurnNeverBecomesTiny() {
        ExtendedHandle connection = grown();
        beBusy(10_000);
        reads = connection;

        assertThat(fullRead(FairReads.MIN_TURN_NANOS - 1)).isTrue();
    }

    @Test
    void aConnectionGetsASmallBufferWhileManyAreBusy() {
        ExtendedHandle connection = grown();
        beBusy(10_000);
        reads = connection;
        fullRead(1);

        assertThat(reads.guess()).isLessThanOrEqualTo(FairReads.MAX_BYTES / 10);
    }

    @Test
    void aNewConnectionBeginsWithASmallBuffer() {
        reads = (ExtendedHandle) all.newHandle();
        reads.reset(new DefaultChannelConfig(channel));
        fullRead(1);

        assertThat(reads.guess()).isLessThanOrEqualTo(2 * FairReads.FIRST_BYTES);
    }

    @Test
    void aConnectionThatIsBusyAgainCountsOnce() {
        for (int i = 0; i < 1_000; i++) {
            fullRead(FairReads.TURN_NANOS);
            // the clock is set back, so that the event loop seems to read all connections within the same period
            now -= FairReads.TURN_NANOS;
            reads.reset(new DefaultChannelConfig(channel));
        }
        grown();

        assertThat(fullRead(FairReads.TURN_NANOS - 1)).isTrue();
    }

    @Test
    void turnsAreLongAgainOnceOthersAreNotBusy() {
        beBusy(10_000);
        now += 2 * FairReads.BUSY_NANOS;
        beBusy(1);
        grown();

        assertThat(fullRead(FairReads.TURN_NANOS - 1)).isTrue();
    }

    /** Returns a connection from the address 127.0.0.{@code last}. */
    private SocketReading ofNetwork(LoopShares shares, int last) {
        try {
            InetAddress address = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
            return new SocketReading(channel, Duration.ofSeconds(10), shares.join(address));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Lets several connections occupy the event loop within one period of 100 ms, each for as long as it may. */
    private void beBusy(int connections) {
        beBusy(connections, null);
    }

    private void beBusy(int connections, @Nullable SocketReading reading) {
        for (int i = 0; i < connections; i++) {
            reads = (ExtendedHandle) all.newHandle(reading);
            fullRead(FairReads.TURN_NANOS);
            now -= FairReads.TURN_NANOS;
        }
    }

    @Test
    void aSmallCallDoesNotLookAtTheClock() {
        read(reads.guess(), 300, 100 * FairReads.TURN_NANOS);

        assertThat(looks).isZero();
    }

    @Test
    void aLargeReadIsMeasuredAlthoughItDoesNotFillTheBuffer() {
        read(reads.guess(), FairReads.MAX_BYTES / 2, 4 * FairReads.TURN_NANOS);

        assertThat(reads.guess()).isEqualTo(FairReads.MAX_BYTES / 8);
    }

    /**
     * If small reads were not measured, a peer could send expensive bytes in many small pieces without ever counting as
     * busy.
     */
    @Test
    void aReadOfAFewKilobytesIsMeasured() {
        assertThat(read(reads.guess(), 1_100, 4 * FairReads.TURN_NANOS)).isFalse();
    }

    /** A peer that sends each byte separately causes a lot of work with only a few bytes. */
    @Test
    void tinyReadCountsAsMuchMoreTimeThanItsBytesNeed() {
        SocketReading reading = new SocketReading(channel, Duration.ofSeconds(10), null);
        reads = (ExtendedHandle) all.newHandle(reading);
        reads.reset(new DefaultChannelConfig(channel));

        read(reads.guess(), 10, 0);
        reads.readComplete();

        assertThat(reading.usedNanos()).isEqualTo(FairReads.READ_NANOS + 10 * FairReads.BYTE_NANOS);
    }

    @Test
    void largeReadCountsAsItsMeasuredTime() {
        SocketReading reading = new SocketReading(channel, Duration.ofSeconds(10), null);
        reads = (ExtendedHandle) all.newHandle(reading);
        reads.reset(new DefaultChannelConfig(channel));

        fullRead(FairReads.TURN_NANOS / 2);
        fullRead(FairReads.TURN_NANOS);
        reads.readComplete();

        assertThat(reading.usedNanos()).isEqualTo(2 * FairReads.READ_NANOS + 3 * FairReads.TURN_NANOS / 2);
    }

    private boolean fullRead(long nanos) {
        return read(reads.guess(), reads.guess(), nanos);
    }

    /** @return whether the connection may read again before other connections are read */
    private boolean read(int attempted, int bytes, long nanos) {
        reads.attemptedBytesRead(attempted);
        reads.lastBytesRead(bytes);
        reads.incMessagesRead(1);
        now += nanos;
        return reads.continueReading();
    }
}
