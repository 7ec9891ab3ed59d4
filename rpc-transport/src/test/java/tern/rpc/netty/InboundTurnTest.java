package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the order in which connections are allowed to complete their messages when the memory for requests is used up.
 * Only one connection at a time may complete its message.
 */
@Timeout(60)
class InboundTurnTest {

    private static final int MESSAGE = 10_000;
    private static final int PART = 1_000;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final InboundBudget budget = InboundBudget.forAll(MESSAGE / 2);

    @AfterEach
    void close() {
        channel.close();
    }

    private InboundAccount account(Runnable whenPaused) {
        return account(budget, 1, whenPaused);
    }

    private InboundAccount account(InboundBudget used, int host, Runnable whenPaused) {
        InetAddress network;
        try {
            network = InetAddress.getByAddress(new byte[] {10, 0, 0, (byte) host});
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(e);
        }
        InboundAccount.Reading reading = new InboundAccount.Reading() {
            @Override
            public void pause(boolean paused) {
                if (paused) {
                    whenPaused.run();
                }
            }

            @Override
            public void tooSlow(String how) {
                throw new AssertionError(how);
            }
        };
        return new InboundAccount(used, network, true, channel.eventLoop(), Duration.ofHours(1), reading);
    }

    /** Reads a message in small parts until it is complete or reading is paused. Returns the number of bytes read. */
    private static int read(InboundAccount account, int message) {
        int read = 0;
        for (; read < message && !account.isPaused(); read += PART) {
            account.incomplete(PART);
        }
        return read;
    }

    @Test
    void halfMessagesOfOneAddressDoNotPauseAnother() {
        InboundBudget large = InboundBudget.forAll(100 * MESSAGE);
        for (int i = 0; i < 200; i++) {
            read(account(large, 1, () -> {}), MESSAGE);
        }
        assertThat(large.used()).isGreaterThan(45 * MESSAGE);

        for (int i = 0; i < 10; i++) {
            assertThat(read(account(large, 2, () -> {}), MESSAGE)).isEqualTo(MESSAGE);
        }
        InboundAccount greedy = account(large, 1, () -> {});
        read(greedy, 10 * MESSAGE);
        assertThat(greedy.isPaused()).isTrue();
    }

    @Test
    void pausedConnectionIsReadAgainWhenItsOwnMessagesAreDecoded() {
        account(budget, 2, () -> {}).incomplete(2 * MESSAGE);
        account(budget, 3, () -> {}).incomplete(2 * MESSAGE);
        InboundAccount honest = account(() -> {});
        honest.kept(MESSAGE);
        honest.incomplete(0);
        assertThat(honest.isPaused()).isTrue();

        honest.kept(-MESSAGE);
        channel.runPendingTasks();

        assertThat(honest.isPaused()).isFalse();
    }

    @Test
    void messagesThatAreDecodedBeforeThePauseIsSeenDoNotLeaveTheConnectionPaused() {
        account(budget, 2, () -> {}).incomplete(2 * MESSAGE);
        account(budget, 3, () -> {}).incomplete(2 * MESSAGE);
        List<InboundAccount> honest = new ArrayList<>();
        honest.add(account(() -> honest.get(0).kept(-MESSAGE)));
        honest.get(0).kept(MESSAGE);
        honest.get(0).incomplete(0);

        assertThat(honest.get(0).isPaused()).isFalse();
    }

    @Test
    void turnGoesToTheAddressWithTheFewestBytesAndThenToTheConnectionThatWaitedLongest() {
        InboundAccount first = account(() -> {});
        first.incomplete(2 * MESSAGE);
        InboundAccount second = account(() -> {});
        second.incomplete(MESSAGE);
        account(budget, 3, () -> {}).kept(2 * MESSAGE);
        InboundAccount other = account(budget, 2, () -> {});
        other.incomplete(MESSAGE);
        InboundAccount third = account(() -> {});
        third.incomplete(MESSAGE);
        assertThat(other.isPaused()).isTrue();

        first.messageComplete();
        channel.runPendingTasks();

        assertThat(other.isPaused()).isFalse();
        assertThat(second.isPaused()).isTrue();
        assertThat(third.isPaused()).isTrue();

        other.messageComplete();
        channel.runPendingTasks();
        assertThat(second.isPaused()).isFalse();
        assertThat(third.isPaused()).isTrue();
    }

    @Test
    void turnOfAConnectionThatIsClosedGoesToTheNext() {
        InboundAccount first = account(() -> {});
        first.incomplete(2 * MESSAGE);
        account(budget, 3, () -> {}).kept(2 * MESSAGE);
        InboundAccount closing = account(budget, 2, () -> {});
        closing.incomplete(MESSAGE / 2);
        InboundAccount last = account(() -> {});
        last.incomplete(MESSAGE);

        first.messageComplete();
        closing.closed();
        channel.runPendingTasks();

        assertThat(last.isPaused()).isFalse();
    }

    @Test
    void turnThatBecomesFreeIsTakenByOneThatWaits() {
        InboundAccount first = account(() -> {});
        InboundAccount second = account(() -> {});
        first.incomplete(MESSAGE);
        second.incomplete(MESSAGE);
        assertThat(first.isPaused()).isFalse();
        assertThat(second.isPaused()).isTrue();

        first.messageComplete();
        channel.runPendingTasks();

        assertThat(second.isPaused()).isFalse();
    }

    /**
     * Tests a race between two connections when the memory budget is used up. Only the connection that has the turn may
     * complete its message. The first connection gives up the turn after the second connection has asked for it and
     * before the second connection is queued. The second connection must then get the turn.
     */
    @Test
    void turnThatBecomesFreeJustBeforeSomebodyWaitsIsTaken() {
        InboundAccount first = account(() -> {});
        InboundAccount second = account(first::messageComplete);
        first.incomplete(MESSAGE);
        second.incomplete(MESSAGE);

        channel.runPendingTasks();

        assertThat(second.isPaused()).isFalse();
    }

    @Test
    void accountWithoutAMessageToFinishWaitsQuietly() {
        InboundAccount holder = account(() -> {});
        holder.kept(MESSAGE);
        holder.incomplete(0);
        assertThat(holder.isPaused()).isTrue();

        // runPendingTasks() would never return if the InboundAccount scheduled checks of the budget endlessly.
        channel.runPendingTasks();

        assertThat(holder.isPaused()).isTrue();
        holder.kept(-MESSAGE);
        channel.runPendingTasks();
        assertThat(holder.isPaused()).isFalse();
    }
}
