package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.AbstractCollection;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tern.rpc.netty.peer.Await;

class SlowReadersTest {

    private static class Reader implements SlowReaders.Open {
        private final InetAddress network;
        private final long unsent;
        private long taken;
        private int step;

        Reader(int host, long unsent) {
            try {
                this.network = InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) host});
            } catch (UnknownHostException e) {
                throw new IllegalArgumentException(e);
            }
            this.unsent = unsent;
        }

        @Override
        public InetAddress network() {
            return network;
        }

        @Override
        public long unsentBytes() {
            return unsent;
        }

        @Override
        public long takenBytes() {
            return taken;
        }

        @Override
        public int takenStepBytes() {
            return step;
        }

        @Override
        public Object remoteAddress() {
            return network;
        }

        @Override
        public void giveUp() {
            throw new AssertionError("nobody closes");
        }
    }

    @Test
    void addressWithTheMostUnreadBytesLosesItsLargestConnectionFirst() {
        Reader alone = new Reader(1, 50);
        Reader small = new Reader(2, 30);
        Reader large = new Reader(2, 40);

        assertThat(SlowReaders.choose(List.of(alone, small, large), 40)).containsExactly(large);
        assertThat(SlowReaders.choose(List.of(alone, small, large), 41)).containsExactly(large, alone);
        assertThat(SlowReaders.choose(List.of(alone, small, large), 1_000)).containsExactly(large, alone, small);
    }

    @Test
    void zeroBytesChooseNoConnection() {
        assertThat(SlowReaders.choose(List.of(new Reader(1, 50)), 0)).isEmpty();
        assertThat(SlowReaders.choose(List.of(new Reader(1, 0)), 10)).isEmpty();
    }

    @Test
    void readerThatTakesTheWaitingBytesIsNotSlow() {
        Reader reader = new Reader(1, 1_000);
        SlowReaders.Look look = SlowReaders.Look.at(reader);

        reader.taken = 999;
        assertThat(look.isSlow(reader)).isTrue();
        reader.taken = 1_000;
        assertThat(look.isSlow(reader)).isFalse();
    }

    @Test
    void readerOfLargeAnswersIsNotSlowWhenItTakesManyBytes() {
        Reader reader = new Reader(1, 8 << 20);
        SlowReaders.Look look = SlowReaders.Look.at(reader);

        reader.taken = SlowReaders.FAST_BYTES - 1;
        assertThat(look.isSlow(reader)).isTrue();
        reader.taken = SlowReaders.FAST_BYTES;
        assertThat(look.isSlow(reader)).isFalse();
    }

    @Test
    void steadyReaderIsNotSlowBetweenTheStepsInWhichItReports() {
        Reader reader = new Reader(1, 8 << 20);
        reader.step = 8 * (int) SlowReaders.FAST_BYTES;
        reader.taken = reader.step;
        SlowReaders.Look look = SlowReaders.Look.at(reader);

        for (int second = 1; second <= 100; second++) {
            if (second % 8 == 0) {
                reader.taken += reader.step;
            }
            assertThat(look.isSlow(reader)).isFalse();
            look = look.next(reader);
        }
    }

    @Test
    void readerThatStopsIsSlowWhenItsNextStepIsOverdue() {
        Reader reader = new Reader(1, 8 << 20);
        reader.step = 8 * (int) SlowReaders.FAST_BYTES;
        reader.taken = 1 << 30;
        SlowReaders.Look look = SlowReaders.Look.at(reader);

        for (int second = 1; second <= 7; second++) {
            assertThat(look.isSlow(reader)).isFalse();
            look = look.next(reader);
        }

        assertThat(look.isSlow(reader)).isTrue();
    }

    @Test
    void connectionThatHadNothingUnreadIsNotSlow() {
        Reader reader = new Reader(1, 0);

        assertThat(SlowReaders.Look.at(reader).isSlow(reader)).isFalse();
    }

    @Test
    void warningIsLoggedWithoutTheLock() {
        UnsentBudget unsent = new UnsentBudget(1 << 20, 1 << 20);
        unsent.add(unsent.join(InetAddress.getLoopbackAddress()), unsent.mostBytes() + 1);
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
        executor.shutdown();
        AtomicReference<@Nullable SlowReaders> readers = new AtomicReference<>();
        List<String> seen = new ArrayList<>();
        Reader reader = new Reader(1, unsent.mostBytes()) {
            @Override
            public Object remoteAddress() {
                seen.add(Thread.holdsLock(Objects.requireNonNull(readers.get())) ? "logged locked" : "logged");
                return super.remoteAddress();
            }

            @Override
            public void giveUp() {
                seen.add("closed");
            }
        };
        readers.set(new SlowReaders(List.of(reader), unsent, executor));

        Objects.requireNonNull(readers.get()).queued();

        assertThat(seen).containsExactly("closed", "logged");
    }

    @Test
    void checksContinueAfterOneFails() {
        AtomicInteger looks = new AtomicInteger();
        Collection<Reader> failing = new AbstractCollection<>() {
            @Override
            public Iterator<Reader> iterator() {
                looks.incrementAndGet();
                throw new IllegalStateException("a connection whose state cannot be read");
            }

            @Override
            public int size() {
                return 1;
            }
        };
        UnsentBudget unsent = new UnsentBudget(1 << 20, 1 << 20);
        unsent.add(unsent.join(InetAddress.getLoopbackAddress()), unsent.manyBytes() + 1);
        ScheduledExecutorService executor = Executors.newSingleThreadScheduledExecutor();
        try {
            SlowReaders readers = new SlowReaders(failing, unsent, executor);

            Await.until("there is a third look", () -> {
                readers.queued();
                return looks.get() >= 3;
            });
        } finally {
            executor.shutdownNow();
        }
    }
}
