package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import ch.qos.logback.classic.Level;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.CallOptions;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.StatusCode;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.peer.AllProtocols;
import tern.rpc.netty.peer.CapturedLog;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests that requests and answers have separate size limits on both client and server and with every protocol. */
class MessageLimitsTest {

    private static final int SMALL = 2_000;
    private static final int LARGE = 100_000;
    private static final int BETWEEN = 5_000;

    /** A service with a large argument and a large result. */
    public interface Letters {
        int count(String letters);

        String letters(int count);
    }

    private static final class LettersServer implements Letters {
        @Override
        public int count(String letters) {
            return letters.length();
        }

        @Override
        public String letters(int count) {
            return "x".repeat(count);
        }
    }

    private final EventLoops loops = EventLoops.start(2);
    private final AllProtocols protocols = new AllProtocols();
    private RpcServer server;
    private RpcClient client;

    @AfterEach
    void close() {
        client.close();
        server.close();
        loops.close();
    }

    private Letters connect(String wire, ServerTransportSettings serving, ClientTransportSettings calling) {
        server = RpcServer.builder(new NettyServerTransport(serving, loops, protocols.ofServer()))
                .export(ServiceExport.of(Letters.class, new LettersServer()))
                .maxQueueWait(Duration.ofSeconds(10))
                .build();
        server.start();
        client = RpcClient.builder()
                .transport(new NettyClientTransport(calling, loops, protocols.ofClient(wire)))
                .timeout(Duration.ofSeconds(20))
                .build();
        return client.refer(ServiceReference.to(
                        Letters.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", server.port()))))
                .protocol(wire)
                .build());
    }

    private Letters served(String wire, int request, int response) {
        return connect(
                wire,
                ServerTransportSettings.onPort(0).withMaxMessageBytes(request, response),
                ClientTransportSettings.named("letters"));
    }

    private Letters called(String wire, int request, int response) {
        return connect(
                wire,
                ServerTransportSettings.onPort(0),
                ClientTransportSettings.named("letters").withMaxMessageBytes(request, response));
    }

    private static RpcException failed(Callable<?> call, String property) {
        RpcException failure = catchThrowableOfType(RpcException.class, call::call);
        assertThat(failure).hasMessageContaining(property).hasMessageContaining(String.valueOf(SMALL));
        return failure;
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void serverReadsRequestsUpToTheirLimit(String wire) {
        Letters letters = served(wire, SMALL, LARGE);
        assertThat(letters.letters(BETWEEN)).hasSize(BETWEEN);

        RpcException failure = failed(() -> letters.count("x".repeat(BETWEEN)), "rpc.limits.max-request");

        assertThat(failure.wasExecuted()).isNotEqualTo(Executed.YES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tri", "http"})
    void compressedRequestThatBecomesTooLargeDidNotRun(String wire) {
        Letters letters = CallOptions.none().compressed().on(served(wire, SMALL, LARGE));

        RpcException failure = failed(() -> letters.count("x".repeat(BETWEEN)), "rpc.limits.max-request");

        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
    }

    @Test
    void lineAboutJsonIsLoggedOnceForBothVersionsOfHttp() {
        try (CapturedLog log = new CapturedLog(TripleCodecs.class.getName(), Level.INFO, line -> {})) {
            serveAbstract();

            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("INFO ")
                    .contains("is abstract and cannot be read from JSON");
        }
    }

    public abstract static class Shape implements Serializable {
        private static final long serialVersionUID = 1L;
    }

    /** A service with a type that JSON does not support. */
    public interface Shapes {
        void draw(Shape shape);
    }

    private void serveAbstract() {
        Shapes shapes = shape -> {};
        server = RpcServer.builder(
                        new NettyServerTransport(ServerTransportSettings.onPort(0), loops, protocols.ofServer()))
                .export(ServiceExport.of(Shapes.class, shapes))
                .build();
        server.start();
        client = RpcClient.builder().build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void serverWritesAnswersUpToTheirLimit(String wire) {
        Letters letters = served(wire, LARGE, SMALL);

        RpcException failure = failed(() -> letters.letters(BETWEEN), "rpc.limits.max-response");

        assertThat(failure.wasExecuted()).isNotEqualTo(Executed.NO);
        assertThat(letters.count("x".repeat(BETWEEN))).isEqualTo(BETWEEN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void clientWritesRequestsUpToTheirLimit(String wire) {
        Letters letters = called(wire, SMALL, LARGE);

        RpcException failure = failed(() -> letters.count("x".repeat(BETWEEN)), "rpc.limits.max-request");

        assertThat(failure.wasExecuted()).isEqualTo(Executed.NO);
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(letters.letters(BETWEEN)).hasSize(BETWEEN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri", "http"})
    void clientReadsAnswersUpToTheirLimit(String wire) {
        Letters letters = called(wire, LARGE, SMALL);

        RpcException failure = failed(() -> letters.letters(BETWEEN), "rpc.limits.max-response");

        assertThat(failure.wasExecuted()).isEqualTo(Executed.YES);
        assertThat(failure.code()).isEqualTo(StatusCode.RESOURCE_EXHAUSTED);
        assertThat(letters.count("x".repeat(BETWEEN))).isEqualTo(BETWEEN);
    }
}
