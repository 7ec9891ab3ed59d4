package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.transport.IdleServerTransport;

@Timeout(60)
class DrainTest {

    /** The number of checks that find work while the server drains. Later checks find none. */
    private static final int LOOKS = 10;

    /**
     * A transport that initially has one connection and no call. A test sets the numbers that the server reads while it
     * drains.
     */
    private static final class Counts extends IdleServerTransport {

        private LongSupplier queued = () -> 0;
        private LongSupplier unsent = () -> 0;
        private LongSupplier ending = () -> 0;
        private LongSupplier inFlight = () -> 0;
        private int connections = 1;

        @Override
        public int connections() {
            return connections;
        }

        @Override
        public int endingConnections() {
            return (int) ending.getAsLong();
        }

        @Override
        public int inFlight() {
            return (int) inFlight.getAsLong();
        }

        @Override
        public long queuedBytes() {
            return queued.getAsLong();
        }

        @Override
        public long unsentBytes() {
            return unsent.getAsLong();
        }
    }

    private final AtomicLong left = new AtomicLong(LOOKS);
    private final Counts counts = new Counts();

    private long work() {
        return Math.max(0, left.getAndDecrement());
    }

    private void drain(Duration atMost) {
        AtomicLong seconds = new AtomicLong();
        try (RpcServer server = RpcServer.builder(counts)
                .clock(() -> Duration.ofSeconds(seconds.getAndIncrement()).toNanos())
                .build()) {
            server.start();
            server.drain(atMost);
        }
    }

    @Test
    void drainEndsWhenThereIsNoWork() {
        left.set(0);
        counts.queued = this::work;

        drain(Duration.ofHours(1));
        assertThat(left.get()).isGreaterThan(-LOOKS);
    }

    @Test
    void drainWaitsForQueuedAnswers() {
        counts.queued = this::work;

        drain(Duration.ofHours(1));
        assertThat(left.get()).isNegative();
    }

    @Test
    void drainWaitsForAnswersThatClientsHaveNotRead() {
        counts.unsent = this::work;

        drain(Duration.ofHours(1));
        assertThat(left.get()).isNegative();
    }

    @Test
    void drainWaitsForClientsThatReadTheirLastAnswer() {
        counts.ending = this::work;

        drain(Duration.ofHours(1));
        assertThat(left.get()).isNegative();
    }

    @Test
    void drainWaitsForCallsWhoseConnectionsAreClosed() {
        counts.connections = 0;
        counts.inFlight = this::work;

        drain(Duration.ofHours(1));
        assertThat(left.get()).isNegative();
    }

    @Test
    void clientThatNeverReadsDoesNotStopTheServer() {
        counts.unsent = () -> 1_000;

        drain(Duration.ofSeconds(20));
    }
}
