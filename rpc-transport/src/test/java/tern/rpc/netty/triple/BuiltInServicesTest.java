package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.ledger.LedgerGrpc;
import com.example.wire.GreetServer;
import com.example.wire.GreetService;
import com.example.wire.StreamServer;
import com.example.wire.StreamService;
import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.JsonFormat;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.grpc.GrpcServices;
import tern.rpc.health.HealthService;
import tern.rpc.netty.ClientTransportSettings;
import tern.rpc.netty.NettyClientTransport;
import tern.rpc.netty.ServerTransportSettings;
import tern.rpc.reflection.ReflectionService;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;

/** Tests the health and reflection services with gRPC's generated clients. */
class BuiltInServicesTest {

    private final HealthService health = new HealthService();
    private final TripleSides sides = new TripleSides();
    private GrpcPeer peer;
    private int port;

    @BeforeEach
    void connect() {
        ServiceExport ledger = GrpcServices.export(new LedgerService());
        ServiceExport greet = ServiceExport.of(GreetService.class, new GreetServer());
        ServiceExport streams = ServiceExport.of(StreamService.class, new StreamServer());
        RpcServer server = sides.serve(limits -> limits, settings -> {
            settings.export(ledger).export(health.export());
            ReflectionService.of(List.of(ledger, greet, streams, health.export()))
                    .forEach(settings::export);
        });
        server.exports().forEach(health::add);
        port = server.port();
        peer = new GrpcPeer(port);
    }

    @AfterEach
    void close() throws Exception {
        peer.close();
        sides.close();
    }

    // ---- health tests

    @Test
    void healthCheckWithoutGrpcIsAnsweredWithTheProtocolToUse() throws Exception {
        HttpRequest.Builder check =
                HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/grpc.health.v1.Health/Check"));
        HttpClient client = HttpClient.newHttpClient();

        HttpResponse<String> get = client.send(check.GET().build(), BodyHandlers.ofString());
        HttpResponse<String> post = client.send(
                check.header("content-type", "application/json")
                        .POST(BodyPublishers.ofString("{}"))
                        .build(),
                BodyHandlers.ofString());

        assertThat(get.body()).contains("Health/Check cannot be called by GET, but only with gRPC");
        assertThat(post.body()).contains("Health/Check is not served as JSON; call it with gRPC");
    }

    @Test
    void healthOfServerAndServicesIsReported() {
        assertThat(check("")).isEqualTo(ServingStatus.SERVING);
        assertThat(check(GreetService.class.getName())).isEqualTo(ServingStatus.SERVING);
        assertThat(check("g1/" + GreetService.class.getName() + ":1.2.3")).isEqualTo(ServingStatus.SERVING);
        assertThat(check(LedgerGrpc.SERVICE_NAME)).isEqualTo(ServingStatus.SERVING);

        health.set(tern.rpc.health.ServingStatus.NOT_SERVING);

        assertThat(check(LedgerGrpc.SERVICE_NAME)).isEqualTo(ServingStatus.NOT_SERVING);
    }

    @Test
    void healthOfAnUnknownNameIsNotFound() {
        assertThatThrownBy(() -> check("nobody"))
                .isInstanceOfSatisfying(
                        StatusRuntimeException.class,
                        failure -> assertThat(failure.getStatus().getCode()).isEqualTo(Code.NOT_FOUND));
    }

    @Test
    void healthChangesReachWatchersUntilTheShutdown() {
        Iterator<HealthCheckResponse> watch = HealthGrpc.newBlockingStub(peer.channel())
                .watch(HealthCheckRequest.newBuilder().setService("later").build());
        assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);

        health.set("later", tern.rpc.health.ServingStatus.SERVING);
        assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.SERVING);

        health.shutDown();
        assertThat(watch.next().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
        assertThat(watch.hasNext()).isFalse();
    }

    @Test
    void healthIsReportedWithoutAFreeWorker() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        GreetServer holding = new GreetServer() {
            @Override
            public String slow(int ms) {
                running.countDown();
                try {
                    return String.valueOf(release.await(30, TimeUnit.SECONDS));
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        };
        RpcServer busy = sides.serve(
                ServerTransportSettings.onPort(0),
                HttpSettings.defaults(),
                settings -> settings.workers(1, 0)
                        .export(ServiceExport.of(GreetService.class, holding))
                        .export(health.export()));
        NettyClientTransport transport = new NettyClientTransport(
                ClientTransportSettings.named("busy"), sides.loops(), new TripleClientProtocol(sides.codecs()));
        try (RpcClient client = RpcClient.builder().transport(transport).build();
                GrpcPeer probe = new GrpcPeer(busy.port())) {
            GreetService greet = client.refer(ServiceReference.to(
                            GreetService.class, new StaticEndpoints(List.of(new Endpoint("127.0.0.1", busy.port()))))
                    .protocol(transport.protocol())
                    .build());
            Thread caller = new Thread(() -> greet.slow(1));
            caller.start();
            assertThat(running.await(30, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> greet.echo("x")).hasMessageContaining("1 of 1 workers");

            assertThat(check(probe, "")).isEqualTo(ServingStatus.SERVING);

            release.countDown();
            caller.join();
        }
    }

    private ServingStatus check(String service) {
        return check(peer, service);
    }

    private static ServingStatus check(GrpcPeer asked, String service) {
        return HealthGrpc.newBlockingStub(asked.channel())
                .check(HealthCheckRequest.newBuilder().setService(service).build())
                .getStatus();
    }

    // ---- reflection tests

    @Test
    void servicesAreListedInBothVersions() throws Exception {
        try (Conversation conversation = new Conversation(peer.channel())) {
            ServerReflectionResponse response = conversation.ask(
                    ServerReflectionRequest.newBuilder().setListServices("*").build());

            assertThat(response.getListServicesResponse().getServiceList())
                    .extracting(ServiceResponse::getName)
                    .containsExactly(
                            GreetService.class.getName(),
                            StreamService.class.getName(),
                            "grpc.health.v1.Health",
                            "grpc.reflection.v1.ServerReflection",
                            "grpc.reflection.v1alpha.ServerReflection",
                            "ledger.v1.Ledger");
        }
        assertThat(listAlpha()).isEqualTo(6);
    }

    private int listAlpha() throws InterruptedException {
        BlockingQueue<io.grpc.reflection.v1alpha.ServerReflectionResponse> answers = new LinkedBlockingQueue<>();
        StreamObserver<io.grpc.reflection.v1alpha.ServerReflectionRequest> requests =
                io.grpc.reflection.v1alpha.ServerReflectionGrpc.newStub(peer.channel())
                        .serverReflectionInfo(new Queueing<>(answers));
        requests.onNext(io.grpc.reflection.v1alpha.ServerReflectionRequest.newBuilder()
                .setListServices("")
                .build());
        int services = answers.take().getListServicesResponse().getServiceCount();
        requests.onCompleted();
        return services;
    }

    @Test
    void unknownSymbolIsAnAnswerAndTheStreamContinues() throws Exception {
        try (Conversation conversation = new Conversation(peer.channel())) {
            assertThat(conversation
                            .ask(symbol("no.such.Thing"))
                            .getErrorResponse()
                            .getErrorCode())
                    .isEqualTo(Code.NOT_FOUND.value());
            assertThat(conversation.ask(symbol("ledger.v1.Ledger")).hasFileDescriptorResponse())
                    .isTrue();
        }
    }

    @Test
    void javaInterfaceIsCalledFromItsDescriptionAlone() throws Exception {
        assertThat(callAsTold(GreetService.class.getName(), "echo", "\"hello\""))
                .isEqualTo("\"hello\"");
        assertThat(callAsTold(GreetService.class.getName(), "record", "{\"x\":3,\"y\":4}"))
                .isEqualTo("{\"x\":3.0,\"y\":4.0}");
        assertThat(callAsTold(GreetService.class.getName(), "map", "[{\"a\":true},[]]"))
                .contains("\"a\":true");
    }

    @Test
    void generatedServiceIsCalledFromItsDescriptionAlone() throws Exception {
        assertThat(callAsTold("ledger.v1.Ledger", "Post", "{\"account\":\"a\",\"amount\":\"12\"}"))
                .isEqualTo("{\"entries\":1,\"balance\":\"12\"}");
    }

    @Test
    void healthIsCalledFromItsDescriptionAlone() throws Exception {
        assertThat(callAsTold("grpc.health.v1.Health", "Check", "{}")).isEqualTo("{\"status\":\"SERVING\"}");
    }

    @Test
    void streamsAreCalledFromTheirDescriptionAlone() throws Exception {
        MethodDescriptor down = described(StreamService.class.getName(), "serverStream");
        assertThat(down.isServerStreaming()).isTrue();
        assertThat(down.isClientStreaming()).isFalse();
        List<String> items = new ArrayList<>();
        ClientCalls.blockingServerStreamingCall(
                        peer.channel(),
                        streaming(down, MethodType.SERVER_STREAMING),
                        CallOptions.DEFAULT,
                        message(down, "\"s\""))
                .forEachRemaining(item -> items.add(json(item)));
        assertThat(items).containsExactly("\"s0\"", "\"s1\"", "\"s2\"");

        MethodDescriptor both = described(StreamService.class.getName(), "biStream");
        assertThat(both.isServerStreaming()).isTrue();
        assertThat(both.isClientStreaming()).isTrue();
        BlockingQueue<DynamicMessage> echoes = new LinkedBlockingQueue<>();
        Queueing<DynamicMessage> end = new Queueing<>(echoes);
        StreamObserver<DynamicMessage> requests = ClientCalls.asyncBidiStreamingCall(
                peer.channel().newCall(streaming(both, MethodType.BIDI_STREAMING), CallOptions.DEFAULT), end);
        requests.onNext(message(both, "{\"name\":\"Ada\"}"));
        assertThat(json(echoes.take())).contains("\"name\":\"Ada\"");
        requests.onCompleted();
        end.ended.join();
    }

    private static io.grpc.MethodDescriptor<DynamicMessage, DynamicMessage> streaming(
            MethodDescriptor described, MethodType type) {
        return GrpcPeer.unary(
                        described.getService().getFullName(),
                        described.getName(),
                        DynamicMessage.getDefaultInstance(described.getInputType()),
                        DynamicMessage.getDefaultInstance(described.getOutputType()))
                .toBuilder()
                .setType(type)
                .build();
    }

    private static DynamicMessage message(MethodDescriptor described, String json)
            throws InvalidProtocolBufferException {
        DynamicMessage.Builder message = DynamicMessage.newBuilder(described.getInputType());
        JsonFormat.parser().merge(json, message);
        return message.build();
    }

    private static String json(DynamicMessage message) {
        try {
            return JsonFormat.printer().omittingInsignificantWhitespace().print(message);
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError(e);
        }
    }

    /** Requests the description of the method from the reflection service, as a command-line tool does. */
    private MethodDescriptor described(String service, String method) throws Exception {
        try (Conversation conversation = new Conversation(peer.channel())) {
            return conversation
                    .file(symbol(service))
                    .findServiceByName(service.substring(service.lastIndexOf('.') + 1))
                    .findMethodByName(method);
        }
    }

    /**
     * Calls a method as a command-line tool does: requests its description, creates the message from JSON and makes the
     * call.
     */
    private String callAsTold(String service, String method, String json) throws Exception {
        MethodDescriptor described = described(service, method);
        return json(ClientCalls.blockingUnaryCall(
                peer.channel(),
                GrpcPeer.unary(
                        service,
                        method,
                        DynamicMessage.getDefaultInstance(described.getInputType()),
                        DynamicMessage.getDefaultInstance(described.getOutputType())),
                CallOptions.DEFAULT,
                message(described, json)));
    }

    private static ServerReflectionRequest symbol(String name) {
        return ServerReflectionRequest.newBuilder()
                .setFileContainingSymbol(name)
                .build();
    }

    /** A bidirectional call to the reflection service. */
    private static final class Conversation implements AutoCloseable {
        private final BlockingQueue<ServerReflectionResponse> answers = new LinkedBlockingQueue<>();
        private final Queueing<ServerReflectionResponse> end = new Queueing<>(answers);
        private final StreamObserver<ServerReflectionRequest> requests;

        Conversation(ManagedChannel channel) {
            requests = ServerReflectionGrpc.newStub(channel).serverReflectionInfo(end);
        }

        ServerReflectionResponse ask(ServerReflectionRequest request) throws InterruptedException {
            requests.onNext(request);
            return answers.take();
        }

        FileDescriptor file(ServerReflectionRequest request) throws Exception {
            List<FileDescriptorProto> files = new ArrayList<>();
            for (ByteString file : ask(request).getFileDescriptorResponse().getFileDescriptorProtoList()) {
                files.add(parsed(file));
            }
            Map<String, FileDescriptor> built = new HashMap<>();
            for (int i = files.size() - 1; i >= 0; i--) {
                FileDescriptorProto file = files.get(i);
                built.put(
                        file.getName(),
                        FileDescriptor.buildFrom(
                                file,
                                file.getDependencyList().stream()
                                        .map(built::get)
                                        .toArray(FileDescriptor[]::new)));
            }
            return built.get(files.get(0).getName());
        }

        private static FileDescriptorProto parsed(ByteString file) throws InvalidProtocolBufferException {
            return FileDescriptorProto.parseFrom(file);
        }

        @Override
        public void close() {
            requests.onCompleted();
            end.ended.join();
        }
    }

    private static final class Queueing<T> implements StreamObserver<T> {
        private final BlockingQueue<T> answers;
        private final CompletableFuture<Void> ended = new CompletableFuture<>();

        Queueing(BlockingQueue<T> answers) {
            this.answers = answers;
        }

        @Override
        public void onNext(T answer) {
            answers.add(answer);
        }

        @Override
        public void onError(Throwable failure) {
            ended.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            ended.complete(null);
        }
    }
}
