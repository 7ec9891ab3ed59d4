package tern.rpc.registry.dubbo.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.EventLoops;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.NettyServerTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.netty.dubbo.DubboProtocol;
import tern.rpc.netty.triple.TripleClientProtocol;
import tern.rpc.netty.triple.TripleCodecs;
import tern.rpc.netty.triple.TripleProtocol;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.ProcessEntry;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.transport.ClientTransport;

/** Tests the client against Tern's metadata service and against servers that do not respond properly. */
@Timeout(120)
class MetadataClientTest {

    private final EventLoops loops = EventLoops.start(1);
    private final HessianSerializer serializer = HessianSerializer.builder().build();
    private final DubboProtocol dubbo = new DubboProtocol(serializer, 0);
    private final TripleCodecs codecs = new TripleCodecs(serializer, null, 0);
    private final List<ClientTransport> transports = List.of(
            new NettyClientTransport(ClientTransportSettings.named("test"), loops, dubbo),
            new NettyClientTransport(ClientTransportSettings.named("test"), loops, new TripleClientProtocol(codecs)));
    private final MetadataClient client = new MetadataClient(() -> transports);

    @AfterEach
    void close() {
        transports.forEach(ClientTransport::close);
        loops.close();
    }

    private static ProcessEntry process(int port, String protocol) {
        String version = protocol.equals("tri") ? "2.0.0" : "1.0.0";
        return new ProcessEntry(
                "shop",
                "127.0.0.1:" + port,
                "127.0.0.1",
                port,
                Map.of(
                        ProcessEntry.REVISION,
                        "r1",
                        ProcessEntry.SERVICE_PARAMETERS,
                        "{\"version\":\"" + version + "\",\"port\":\"" + port + "\",\"protocol\":\"" + protocol
                                + "\"}"));
    }

    private RpcServer serve(ApplicationMetadata metadata) throws Exception {
        RpcServer.Builder server = RpcServer.builder(new NettyServerTransport(
                ServerTransportSettings.onPort(0), loops, List.of(dubbo, new TripleProtocol(codecs))));
        MetadataExports.of("shop", () -> metadata).forEach(server::export);
        RpcServer started = server.build();
        started.start();
        return started;
    }

    private static ApplicationMetadata metadata(int services, int parameters) {
        Map<String, String> values = new HashMap<>();
        for (int i = 0; i < parameters; i++) {
            values.put("key-" + i, "value of about thirty characters");
        }
        Map<String, ApplicationMetadata.Service> all = new HashMap<>();
        for (int i = 0; i < services; i++) {
            ApplicationMetadata.Service service =
                    new ApplicationMetadata.Service("a.B" + i, "", "", "dubbo", 20880, "a.B" + i, values);
            all.put(service.key(), service);
        }
        return ApplicationMetadata.of("shop", all);
    }

    private static void assertFails(CompletableFuture<ApplicationMetadata> answer, String part) {
        assertThatThrownBy(() -> answer.get(60, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .hasMessageContaining(part);
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void servicesAreReadOverBothProtocols(String protocol) throws Exception {
        ApplicationMetadata metadata = metadata(3, 5);
        try (RpcServer server = serve(metadata)) {
            assertThat(client.of(process(server.port(), protocol)).get(60, TimeUnit.SECONDS))
                    .isEqualTo(metadata);
        }
    }

    /**
     * The provider's address is 0.0.0.0. If the client connected to this address, it would reach the test's own server.
     */
    @Test
    void addressThatCannotBeAProviderIsNotCalled() throws Exception {
        try (RpcServer server = serve(metadata(1, 1))) {
            ProcessEntry local = process(server.port(), "dubbo");
            ProcessEntry nobody = new ProcessEntry("shop", local.id(), "0.0.0.0", local.port(), local.metadata());

            assertFails(client.of(nobody), "0.0.0.0:" + server.port() + " cannot be a provider");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void answersThatExceedTheLimitsAreRefused(String protocol) throws Exception {
        try (RpcServer server = serve(metadata(200, 200))) {
            assertFails(client.of(process(server.port(), protocol)), "more than 1048576");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dubbo", "tri"})
    void silentServerEndsTheCallAndItsConnection(String protocol) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            CompletableFuture<ApplicationMetadata> answer = client.of(process(silent.getLocalPort(), protocol));
            try (Socket accepted = silent.accept()) {
                assertThatThrownBy(() -> answer.get(60, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);

                byte[] rest =
                        accepted.getInputStream().readAllBytes(); // Blocks until the client closes the connection.
                assertThat(rest).isNotEmpty();
            }
        }
    }

    @Test
    void closedPortUnknownProtocolAndWrongParametersFail() throws Exception {
        int closed;
        try (ServerSocket socket = new ServerSocket(0)) {
            closed = socket.getLocalPort();
        }

        assertThat(client.of(process(closed, "dubbo"))).failsWithin(java.time.Duration.ofSeconds(60));
        assertFails(client.of(process(closed, "rest")), "the protocol 'rest', which this client does not have");
        assertFails(client.of(process(70_000, "dubbo")), "no valid port");
    }
}
