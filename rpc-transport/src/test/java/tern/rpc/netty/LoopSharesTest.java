package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopSharesTest {

    private static final long HALF = LoopShares.PASS_NANOS / 2; // the share of each address if there are two

    private final List<Runnable> tasks = new ArrayList<>();
    private final LoopShares shares = new LoopShares(tasks::add);
    private final List<EmbeddedChannel> channels = new ArrayList<>();

    @AfterEach
    void close() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    /** Opens connections from the address 127.0.0.{@code last}. */
    private List<SocketReading> connect(int last, int count) {
        return IntStream.range(0, count).mapToObj(i -> connect(last)).toList();
    }

    private SocketReading connect(int last) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channels.add(channel);
        return new SocketReading(channel, Duration.ofSeconds(10), shares.join(address(last)));
    }

    private static InetAddress address(int last) {
        try {
            return InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) last});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Reads from all connections that are not paused. Returns the number of these connections. */
    private static long read(List<SocketReading> connections, long nanos) {
        List<SocketReading> ready =
                connections.stream().filter(each -> !each.isResting()).toList();
        ready.forEach(each -> each.used(nanos));
        return ready.size();
    }

    private long autoReads() {
        return channels.stream()
                .map(Channel::config)
                .filter(each -> each.isAutoRead())
                .count();
    }

    @Test
    void busyAddressGetsItsShareOfEachPass() {
        List<SocketReading> busy = connect(2, 100);
        List<SocketReading> other = connect(3, 1);
        for (int pass = 0; pass < 30; pass++) { // the first pass of the event loop reads from all connections
            read(busy, HALF / 10);
            read(other, 1);
            shares.passEnds();
        }

        for (int pass = 0; pass < 20; pass++) {
            assertThat(read(busy, HALF / 10)).isBetween(5L, 15L);
            assertThat(read(other, 1)).isEqualTo(1);
            shares.passEnds();
        }
    }

    @Test
    void connectionRestsUntilTheOthersOfItsAddressHaveBeenRead() {
        List<SocketReading> busy = connect(2, 100);
        List<SocketReading> other = connect(3, 1);
        int[] reads = new int[busy.size()];

        for (int pass = 0; pass < 1_000; pass++) {
            for (int i = 0; i < reads.length; i++) {
                if (!busy.get(i).isResting()) {
                    reads[i]++;
                    busy.get(i).used(HALF / 10);
                }
            }
            read(other, 1);
            shares.passEnds();
        }

        assertThat(IntStream.of(reads).max().orElse(0)
                        - IntStream.of(reads).min().orElse(0))
                .isLessThanOrEqualTo(3);
        assertThat(IntStream.of(reads).sum()).isGreaterThan(5_000);
    }

    @Test
    void restingConnectionIsNotReadAndDoesNotLoseItsOtherPauses() {
        SocketReading first = connect(2);
        SocketReading second = connect(2);
        connect(3);
        first.used(2 * LoopShares.PASS_NANOS);
        second.used(1);
        assertThat(autoReads()).isEqualTo(1);

        second.unwanted(true);
        shares.passEnds();
        shares.passEnds();
        shares.passEnds();

        assertThat(first.isResting() || second.isResting()).isFalse();
        assertThat(autoReads()).isEqualTo(2);
        second.unwanted(false);
        assertThat(autoReads()).isEqualTo(3);
    }

    /**
     * If closed connections stayed in the list of paused connections, a peer could fill the memory with connections
     * that it closes while they are paused.
     */
    @Test
    void connectionThatIsClosedLosesItsPlaceAmongTheResting() {
        SocketReading first = connect(2);
        SocketReading second = connect(2);
        connect(3);
        first.used(2 * LoopShares.PASS_NANOS);
        second.used(1);

        first.closed();

        int passes = 0;
        while (second.isResting()) {
            shares.passEnds();
            passes++;
        }
        assertThat(passes).isEqualTo(2); // the result would be 3 if the first connection were still counted
    }

    @Test
    void connectionThatIsClosedDuringItsReadDoesNotRest() {
        SocketReading first = connect(2);
        connect(2);
        connect(3);
        channels.get(0).close();

        first.used(2 * LoopShares.PASS_NANOS);

        assertThat(first.isResting()).isFalse();
    }

    @Test
    void addressThatLosesItsRestingConnectionsMayRestAgain() {
        SocketReading first = connect(2);
        connect(2);
        connect(3);
        first.used(2 * LoopShares.PASS_NANOS);
        first.closed();
        SocketReading next = connect(2);
        next.used(2 * LoopShares.PASS_NANOS);
        assertThat(next.isResting()).isTrue();

        for (int pass = 0; pass < 5; pass++) {
            shares.passEnds();
        }

        assertThat(next.isResting()).isFalse();
    }

    @Test
    void nextPassBeginsAtOnceEvenAfterAnError() {
        AtomicBoolean fails = new AtomicBoolean();
        EmbeddedChannel failing = new EmbeddedChannel() {
            @Override
            public boolean isOpen() {
                if (fails.getAndSet(false)) {
                    throw new OutOfMemoryError("thrown by a test");
                }
                return super.isOpen();
            }
        };
        channels.add(failing);
        SocketReading first = new SocketReading(failing, Duration.ofSeconds(10), shares.join(address(2)));
        SocketReading second = connect(2);
        connect(3);
        first.used(2 * LoopShares.PASS_NANOS);
        second.used(1);
        shares.passEnds();
        tasks.clear();

        fails.set(true);
        assertThatThrownBy(shares::passEnds).isInstanceOf(OutOfMemoryError.class);

        assertThat(tasks).hasSize(1);
        shares.passEnds();
        assertThat(second.isResting()).isFalse();
    }

    @Test
    void singleAddressIsNeverPaused() {
        List<SocketReading> busy = connect(2, 100);

        assertThat(read(busy, LoopShares.PASS_NANOS)).isEqualTo(100);
        assertThat(autoReads()).isEqualTo(100);
    }

    @Test
    void singleConnectionOfAnAddressIsNeverPausedWhileFewAddressesAreBusy() {
        List<SocketReading> one = connect(2, 1);
        List<SocketReading> other = connect(3, 1);

        read(one, LoopShares.PASS_NANOS);
        read(other, LoopShares.PASS_NANOS);

        assertThat(autoReads()).isEqualTo(2);
    }

    @Test
    void verySmallSharesAreGivenInTurn() {
        List<SocketReading> all =
                IntStream.range(0, 1_000).mapToObj(this::connectAs).toList();
        for (int pass = 0; pass < 50; pass++) {
            read(all, LoopShares.MIN_SHARE_NANOS + 1);
            shares.passEnds();
        }

        assertThat(read(all, LoopShares.MIN_SHARE_NANOS + 1))
                .isBetween(1L, LoopShares.PASS_NANOS / LoopShares.MIN_SHARE_NANOS);
    }

    private SocketReading connectAs(int number) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channels.add(channel);
        try {
            byte[] address = {127, 0, (byte) (1 + number / 250), (byte) (1 + number % 250)};
            return new SocketReading(channel, Duration.ofSeconds(10), shares.join(InetAddress.getByAddress(address)));
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void eventLoopDoesNotWaitForSocketsWhileAConnectionRests() {
        List<SocketReading> busy = connect(2, 100);
        connect(3);
        read(busy, HALF);
        int passes = 0;
        do {
            tasks.clear();
            shares.passEnds();
            passes++;
        } while (!tasks.isEmpty());

        assertThat(busy).noneMatch(SocketReading::isResting);
        assertThat(passes).isBetween(50, 300);
    }

    @Test
    void closedConnectionsAreForgotten() {
        List<SocketReading> busy = connect(2, 100);
        List<SocketReading> other = connect(3, 2);
        read(busy, HALF);
        channels.subList(0, 100).forEach(EmbeddedChannel::close);
        busy.forEach(SocketReading::closed);

        read(other, LoopShares.PASS_NANOS); // no other address is left, so no connection needs to be paused
        shares.passEnds();

        assertThat(other).noneMatch(SocketReading::isResting);
    }
}
