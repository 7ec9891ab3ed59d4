package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.peer.ContractTransports;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.ContractService;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.TransportContractTest;
import tools.jackson.databind.json.JsonMapper;

class Http1ContractTest extends TransportContractTest {

    private static final TripleCodecs CODECS = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private static final ContractTransports TRANSPORTS =
            new ContractTransports(new Http1Protocol(CODECS, HttpSettings.defaults()), new Http1ClientProtocol(CODECS));

    @AfterAll
    static void stop() {
        TRANSPORTS.close();
    }

    @Override
    protected ServerTransport newServerTransport() {
        return TRANSPORTS.newServer();
    }

    @Override
    protected ClientTransport newClientTransport() {
        return TRANSPORTS.newClient();
    }

    @Override
    public boolean carriesExceptions() {
        return false;
    }

    @Override
    protected Endpoint endpoint() {
        return TRANSPORTS.endpoint();
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
