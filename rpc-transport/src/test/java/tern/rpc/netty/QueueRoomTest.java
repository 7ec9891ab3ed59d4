package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests how streams of a client wait for room in the write queue of their connection. */
class QueueRoomTest {

    private static final int LIMIT = 1 << 20;
    private static final int TURN = (int) QueueRoom.BYTES_PER_TURN;

    /** A command of the given size, which stays in the queue, because the queue is not connected. */
    private static final class Bytes extends WriteCommand {
        private final int bytes;

        Bytes(int bytes) {
            this.bytes = bytes;
        }

        @Override
        public int bytes() {
            return bytes;
        }

        @Override
        protected void write(WriteBatch batch) {
            throw new AssertionError("the queue has no channel");
        }
    }

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final WriteQueue queue = new WriteQueue();
    private final QueueRoom room = new QueueRoom(queue, LIMIT);
    private final List<BooleanSupplier> streams = new ArrayList<>();
    private final List<Integer> notified = new ArrayList<>();
    private final Set<Integer> ended = new HashSet<>();

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    /** Makes the given number of streams wait for room. */
    private void await(int count) {
        for (int i = 0; i < count; i++) {
            int number = streams.size();
            BooleanSupplier stream = () -> {
                notified.add(number);
                return !ended.contains(number);
            };
            streams.add(stream);
            assertThat(room.isThere(stream)).isFalse();
        }
    }

    private void leave(int bytes) {
        queue.left(bytes);
        room.lowered(channel.eventLoop());
    }

    private void lookAgain() {
        channel.advanceTimeBy(QueueRoom.BETWEEN_TURNS_MILLIS, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    @Test
    void numberOfNotifiedStreamsDependsOnTheFreeBytesOfTheQueue() {
        queue.add(new Bytes(LIMIT + 1));
        await(100);

        leave(1);
        assertThat(notified).containsExactly(0);

        queue.add(new Bytes(TURN)); // the notified stream has sent messages, so the queue is full again
        lookAgain();
        leave(TURN - 1);
        assertThat(notified).as("the queue is still full").hasSize(1);

        leave(1 + 3 * TURN);
        assertThat(notified).as("in the order of their arrival").containsExactly(0, 1, 2, 3, 4);
    }

    @Test
    void allStreamsAreNotifiedEventuallyEvenIfNoneSendsAnything() {
        queue.add(new Bytes(LIMIT + 1));
        await(100);

        leave(1);
        for (int looks = 0; looks < 100; looks++) {
            lookAgain();
        }

        assertThat(notified).hasSize(100).isSorted();
    }

    @Test
    void streamThatHasEndedTakesNoTurnFromAnother() {
        queue.add(new Bytes(LIMIT + 1));
        await(4);
        ended.addAll(List.of(0, 1));

        leave(1);

        assertThat(notified).containsExactly(0, 1, 2);
    }

    @Test
    void streamIsNotifiedOnceHoweverOftenItChecks() {
        queue.add(new Bytes(LIMIT + 1));
        await(1);
        assertThat(room.isThere(streams.get(0))).isFalse();

        leave(LIMIT + 1);
        lookAgain();

        assertThat(notified).hasSize(1);
        assertThat(room.isThere(streams.get(0))).isTrue();
    }
}
