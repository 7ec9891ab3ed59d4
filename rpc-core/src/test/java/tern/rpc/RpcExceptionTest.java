package tern.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RpcExceptionTest {

    @Test
    void messageOfAnotherExceptionMayBeNull() {
        RpcException failure = new RpcException(StatusCode.NOT_FOUND, new IllegalStateException().getMessage());

        assertThat(failure).hasMessage("NOT_FOUND");
        assertThat(failure.status().description()).isEmpty();
        assertThat(failure.answeredBy("Orders/find at 10.0.0.7:20880", false))
                .hasMessage("NOT_FOUND: Orders/find at 10.0.0.7:20880");
    }

    @Test
    void okIsRefusedAsTheCodeOfAFailure() {
        assertThatThrownBy(() -> new RpcException(StatusCode.OK, "done"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("OK is not the code of a failure; return a result, or choose another StatusCode");
    }
}
