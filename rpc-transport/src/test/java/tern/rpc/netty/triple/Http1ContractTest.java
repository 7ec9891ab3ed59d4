package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.ResourceLedger;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.serialization.json.JsonCodec;
import tern.rpc.transport.ClientTransport;
import tern.rpc.transport.ContractService;
import tern.rpc.transport.ServerTransport;
import tern.rpc.transport.TransportContractTest;
import tools.jackson.databind.json.JsonMapper;

class Http1ContractTest extends TransportContractTest {

    private static final EventLoops LOOPS = EventLoops.start(2);

    private final TripleCodecs codecs = new TripleCodecs(
            HessianSerializer.builder().build(),
            new JsonCodec(JsonMapper.builder().build()),
            0);
    private @Nullable ServerTransport server;

    @AfterAll
    static void stop() {
        LOOPS.close();
    }

    @Override
    protected ServerTransport newServerTransport() {
        server = ResourceLedger.watch(new NettyServerTransport(
                ServerTransportSettings.onPort(0), LOOPS, List.of(new Http1Protocol(codecs, HttpSettings.defaults()))));
        return server;
    }

    @Override
    protected ClientTransport newClientTransport() {
        return new NettyClientTransport(
                ClientTransportSettings.named("contract"), LOOPS, new Http1ClientProtocol(codecs));
    }

    @Override
    public boolean carriesExceptions() {
        return false;
    }

    @Override
    protected Endpoint endpoint() {
        return new Endpoint("127.0.0.1", Objects.requireNonNull(server).port());
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
