package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;

class ServedFailuresTest {

    /**
     * A reader such as the hessian2 reader does not know whether it reads a request or an answer, so its failure says
     * MAYBE.
     */
    @Test
    void callWhoseRequestWasNotDecodedWasNotExecuted() {
        RpcException refusal = RpcException.refusal(StatusCode.RESOURCE_EXHAUSTED, "too many keys", Executed.MAYBE);

        RpcException told = ServedFailures.unreadable(refusal);

        assertThat(told.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(told.status()).isEqualTo(refusal.status());
    }

    @Test
    void failureThatSaysWhetherTheCallWasExecutedIsKept() {
        RpcException refusal = RpcException.refusal(StatusCode.PERMISSION_DENIED, "not allowed", Executed.NO);

        assertThat(ServedFailures.unreadable(refusal)).isSameAs(refusal);
    }
}
