package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class TrialPausesTest {

    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final long MANY = TrialPauses.CALLS_FOR_FAILING;

    private long now = -3 * SECOND; // The clock starts below zero, because System.nanoTime() can also be negative.
    private final TrialPauses pauses = new TrialPauses(now);

    /**
     * Returns whether a trial call to the failing provider is due after the given time, but not yet after a quarter of
     * this time.
     */
    private boolean isDueWithin(long nanos, boolean failing, long calls) {
        return !pauses.isDue(failing, calls, now + nanos / 4) && pauses.isDue(failing, calls, now + nanos);
    }

    private void failTrial() {
        pauses.taken(now);
        now += SECOND;
        pauses.failed(true, now);
    }

    @Test
    void slowProviderIsTriedAfterSomeSecondsAndCalls() {
        pauses.slow(SECOND / 10, now);

        assertThat(pauses.isDue(false, TrialPauses.CALLS_FOR_SLOW, now + SECOND))
                .isFalse();
        assertThat(pauses.isDue(false, TrialPauses.CALLS_FOR_SLOW, now + 4 * SECOND))
                .isTrue();
        assertThat(pauses.isDue(false, TrialPauses.CALLS_FOR_SLOW - 1, now + 5 * SECOND))
                .isFalse();
    }

    @Test
    void providerThatTakesSecondsIsTriedSeldom() {
        pauses.slow(SECOND, now);

        assertThat(pauses.isDue(false, MANY, now + 15 * SECOND - 1)).isFalse();
        assertThat(pauses.isDue(false, MANY, now + 45 * SECOND)).isTrue();
    }

    @Test
    void goodAnswerIsSoonFollowedByTheNextTrial() {
        pauses.slow(SECOND / 10, now);
        pauses.taken(now);
        pauses.good(now);

        assertThat(pauses.isDue(false, 1, now + SECOND / 10 - 1)).isFalse();
        assertThat(pauses.isDue(false, 1, now + SECOND / 10)).isTrue();
    }

    @Test
    void failingProviderIsTriedAfterSomeTenSeconds() {
        failTrial();

        assertThat(isDueWithin(30 * SECOND, true, 1)).isTrue();
    }

    @Test
    void pauseStaysShortWhileTheProviderRefusesCallsBeforeItRunsThem() {
        for (int i = 0; i < 5; i++) {
            pauses.taken(now);
            pauses.failed(false, now);
        }

        assertThat(isDueWithin(3_750_000_000L, true, 1)).isTrue();
    }

    @Test
    void clientWithManyCallsTriesAFailingProviderEarlier() {
        failTrial();

        assertThat(pauses.isDue(true, MANY, now + SECOND)).isTrue();
        assertThat(pauses.isDue(true, MANY - 1, now + SECOND)).isFalse();
        assertThat(pauses.isDue(false, MANY, now + SECOND)).isFalse();
    }

    @Test
    void providerThatSendsDataAgainIsTriedSoon() {
        failTrial();
        failTrial();
        pauses.resumed(now);

        assertThat(pauses.isDue(true, 1, now + 3 * SECOND)).isTrue();
    }
}
