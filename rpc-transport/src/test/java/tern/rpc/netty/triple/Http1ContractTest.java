package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.transport.ContractService;
import tern.rpc.transport.TestedTransport;
import tern.rpc.transport.TransportContractTest;

class Http1ContractTest extends TransportContractTest {

    @RegisterExtension
    static final ContractTransports TRANSPORTS = HttpTransports.http1();

    @Override
    protected TestedTransport transport() {
        return TRANSPORTS;
    }

    @Override
    public boolean carriesExceptions() {
        return false;
    }

    @Test
    void exceptionKnownToCallersKeepsItsMessage() {
        ContractService proxy = proxy();

        RpcException told = catchThrowableOfType(RpcException.class, () -> proxy.fails("declared"));

        assertThat(told.code()).isEqualTo(StatusCode.UNKNOWN);
        assertThat(told.status().description()).isEqualTo("not today");
        assertThat(told.wasExecuted()).isEqualTo(Executed.YES);
    }

    @Test
    void messageOfAnyOtherExceptionStaysAtTheServer() {
        ContractService proxy = proxy();

        assertThatThrownBy(() -> proxy.fails("standard"))
                .isInstanceOf(RpcException.class)
                .hasMessageMatching("UNKNOWN: ContractService/fails at \\S+:\\d+ failed with"
                        + " java.lang.\\w+ \\(logged by the server as [0-9a-f]{8}\\)");
        assertThatThrownBy(() -> proxy.failsLater("oh").toCompletableFuture().join())
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RpcException.class);
    }
}
