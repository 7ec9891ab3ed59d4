package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

/** Tests calls through a client that has been closed or is being closed. */
class ClosedClientTest extends ScriptedProviders {

    @Test
    void callsOfAClosedClientFailAtOnceAndNameTheReason() {
        Service impatient = idempotent(false, ONE);
        Service patient = client.refer(
                reference(ONE).timeout(Duration.ofDays(1)).waitForReady().build());
        client.close();

        assertThatThrownBy(impatient::call).hasMessageContaining("the client is closed");
        assertThatThrownBy(patient::call).hasMessageContaining("the client is closed");
        assertThat(patient.later())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withMessageContaining("the client is closed");
        assertThatThrownBy(() -> idempotent(false, ONE))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("the client is closed; ");
    }

    @Test
    void asynchronousCallThatWaitsForAProviderEndsWhenTheClientIsClosed() {
        CompletableFuture<String> result = patient(Duration.ofDays(1)).later();

        client.close();

        assertThat(result)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableThat()
                .withMessageContaining("the client is closed");
    }

    @Test
    void runningCallOfAClosedClientMayHaveRun() {
        connection(ONE).taking = (connection, call) -> {
            client.close();
            call.fail(RpcException.refusal(StatusCode.UNAVAILABLE, "the connection was closed", Executed.MAYBE));
        };
        Service service = idempotent(false, ONE);

        RpcException failure = catchThrowableOfType(RpcException.class, service::call);

        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(failure).hasMessageContaining("the client is closed");
    }
}
