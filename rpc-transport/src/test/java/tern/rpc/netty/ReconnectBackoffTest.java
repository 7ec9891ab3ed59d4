package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ReconnectBackoffTest {

    private final ReconnectBackoff backoff = new ReconnectBackoff(ClientTransportSettings.named("orders"));

    @Test
    void firstTwoLostConnectionsAreReplacedAtOnceAndLaterOnesAfterAPause() {
        assertThat(backoff.nextMillisAfterALoss()).isZero();
        assertThat(backoff.nextMillisAfterALoss()).isZero();
        assertThat(backoff.nextMillisAfterALoss()).isPositive();
    }

    @Test
    void firstFailedAttemptIsRepeatedAtOnceAndLaterOnesAfterAPause() {
        assertThat(backoff.nextMillis()).isZero();
        assertThat(backoff.nextMillis()).isPositive();
    }

    @Test
    void failedAttemptsAfterLostConnectionsNeedAPause() {
        for (int i = 0; i < 3; i++) {
            backoff.nextMillisAfterALoss();
        }
        assertThat(backoff.nextMillis()).isPositive();
    }

    @Test
    void serverThatAnsweredIsConnectedToAtOnceAgain() {
        for (int i = 0; i < 10; i++) {
            backoff.nextMillis();
            backoff.nextMillisAfterALoss();
        }
        backoff.reset();
        assertThat(backoff.nextMillisAfterALoss()).isZero();
        assertThat(backoff.nextMillis()).isZero();
    }

    @Test
    void pausesBelowAMillisecondAreOneMillisecond() {
        ReconnectBackoff quick = new ReconnectBackoff(
                ClientTransportSettings.named("orders").withReconnect(Duration.ofNanos(1), Duration.ofNanos(2)));
        quick.nextMillis();

        assertThat(quick.nextMillis()).isOne();
    }
}
