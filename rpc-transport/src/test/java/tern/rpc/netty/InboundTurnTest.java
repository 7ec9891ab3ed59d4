package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the order in which connections may complete their messages when the memory for requests is used up. Only one
 * connection at a time may do so.
 */
@Timeout(60)
class InboundTurnTest {

    private static final int MESSAGE = 10_000;

    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final InboundBudget budget = InboundBudget.forAll(MESSAGE / 2);

    @AfterEach
    void close() {
        channel.close();
    }

    private InboundAccount account(Runnable whenPaused) {
        return new InboundAccount(budget, true, channel.eventLoop(), Duration.ofHours(1), new InboundAccount.Reading() {
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
        });
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
     * Tests a race between the {@link InboundAccount}s of two connections. Only one of them may complete its message at
     * a time. The second account is denied this permission, and the first account finishes before the second account is
     * queued. The second account must still get the permission.
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

        // This call would never return if the InboundAccount scheduled a check of the budget again and again.
        channel.runPendingTasks();

        assertThat(holder.isPaused()).isTrue();
        holder.kept(-MESSAGE);
        channel.runPendingTasks();
        assertThat(holder.isPaused()).isFalse();
    }
}
