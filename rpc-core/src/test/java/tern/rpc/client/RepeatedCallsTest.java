package tern.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;

/** Tests the failures of repeated calls. If an earlier attempt may have run, the failure must say so. */
class RepeatedCallsTest extends ScriptedProviders {

    /**
     * The first call that reaches any endpoint fails, and the failure says that the call may have run. Later calls are
     * refused with the given code.
     */
    private void losesTheFirstCall(StatusCode code, Runnable afterwards, Endpoint... endpoints) {
        for (Endpoint endpoint : endpoints) {
            connection(endpoint).taking = (connection, call) -> {
                boolean first = asked.isEmpty();
                asked.add(endpoint);
                afterwards.run();
                call.fail(RpcException.refusal(
                        first ? StatusCode.UNAVAILABLE : code,
                        first ? "lost" : "refused",
                        first ? Executed.MAYBE : Executed.NO));
            };
        }
    }

    @Test
    void callMayHaveRunIfOnlyTheSecondAttemptIsRefused() {
        losesTheFirstCall(StatusCode.UNIMPLEMENTED, () -> {}, ONE, TWO);

        RpcException failure = catchThrowableOfType(RpcException.class, idempotent(false, ONE, TWO)::call);

        assertThat(asked).hasSizeGreaterThan(1);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(failure).hasMessage("UNIMPLEMENTED: refused; an earlier attempt of the call may have run");
    }

    @Test
    void asynchronousCallMayHaveRunIfOnlyTheSecondAttemptIsRefused() {
        losesTheFirstCall(StatusCode.UNAVAILABLE, () -> {}, ONE, TWO);
        CompletableFuture<String> result = idempotent(false, ONE, TWO).later();

        assertThat(result)
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE));
    }

    @Test
    void repeatedCallThatWaitsUntilItsDeadlineMayHaveRun() {
        losesTheFirstCall(StatusCode.UNAVAILABLE, () -> connection(ONE).available = false, ONE);
        Service service = idempotent(true, ONE);

        RpcException failure = catchThrowableOfType(RpcException.class, service::call);

        assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
        assertThat(Fallback.covers(failure)).isFalse();
    }

    @Test
    void repeatedAsynchronousCallThatWaitsUntilItsDeadlineMayHaveRun() {
        losesTheFirstCall(StatusCode.UNAVAILABLE, () -> connection(ONE).available = false, ONE);

        assertThat(idempotent(true, ONE).later())
                .failsWithin(Duration.ofSeconds(20))
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
                    assertThat(failure.wasExecuted()).isEqualTo(Executed.MAYBE);
                });
    }
}
