package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

class ServedFailuresTest {

    /** For example, the reader of hessian2 cannot distinguish a request from an answer. */
    @Test
    void callWhoseRequestWasNotDecodedWasNotExecuted() {
        RpcException refusal = RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "too many keys", Executed.MAYBE);

        RpcException told = ServedFailures.unreadable(refusal);

        assertThat(told.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(told.status()).isEqualTo(refusal.status());
    }

    @Test
    void failureThatKnowsWhetherTheCallWasExecutedIsKept() {
        RpcException refusal = RpcException.refusal(StatusCode.PERMISSION_DENIED, "not allowed", Executed.NO);

        assertThat(ServedFailures.unreadable(refusal)).isSameAs(refusal);
    }
}
