package tern.rpc.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.WireName;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.health.HealthService;
import tern.rpc.health.ServingStatus;
import tern.rpc.reflection.ReflectionService;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.server.RpcServer;
import tern.rpc.server.ServiceExport;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Items;
import tern.rpc.transport.Probe;

/**
 * Tests gRPC services, health and reflection over the in-memory transport. Tern's client sends and receives encoded
 * messages.
 */
@Timeout(60)
class ServicesInMemoryTest {

    @WireName("text.Words")
    interface Words {
        @WireName("Shout")
        byte[] shout(byte[] word);

        @WireName("Join")
        CompletionStage<byte[]> join(Flow.Publisher<byte[]> words);

        @WireName("Split")
        Flow.Publisher<byte[]> split(byte[] words);

        @WireName("Echo")
        Flow.Publisher<byte[]> echo(Flow.Publisher<byte[]> words);

        @WireName("Endless")
        Flow.Publisher<byte[]> endless(byte[] word);
    }

    @WireName("grpc.health.v1.Health")
    interface Health {
        @WireName("Watch")
        Flow.Publisher<byte[]> watch(byte[] request);
    }

    @WireName("grpc.reflection.v1.ServerReflection")
    interface Reflection {
        @WireName("ServerReflectionInfo")
        Flow.Publisher<byte[]> info(Flow.Publisher<byte[]> requests);
    }

    private final CompletableFuture<Throwable> endlessCancelled = new CompletableFuture<>();
    private final HealthService health = new HealthService();
    private final InMemoryTransport transport =
            new InMemoryTransport(HessianSerializer.builder().build());
    private final RpcServer server = server();
    private final RpcClient client = RpcClient.builder()
            .transport(transport)
            .timeout(Duration.ofSeconds(20))
            .build();

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private RpcServer server() {
        ServiceExport words = GrpcServices.export(words());
        RpcServer.Builder builder = RpcServer.builder(transport).export(words).export(health.export());
        ReflectionService.of(builder.exports()).forEach(builder::export);
        RpcServer built = builder.build();
        built.start();
        return built;
    }

    // ---- gRPC

    @Test
    void oneRequestHasOneAnswer() {
        assertThat(text(refer(Words.class).shout(bytes("hello")))).isEqualTo("HELLO");
    }

    @Test
    void manyRequestsHaveOneAnswer() throws Exception {
        CompletionStage<byte[]> joined = refer(Words.class).join(Items.of(bytes("a"), bytes("b"), bytes("c")));

        assertThat(text(joined.toCompletableFuture().get(20, TimeUnit.SECONDS))).isEqualTo("abc");
    }

    @Test
    void oneRequestHasManyAnswers() throws Exception {
        Probe<byte[]> words = Probe.ofAll();
        refer(Words.class).split(bytes("a bc d")).subscribe(words);

        assertThat(words.rest()).extracting(ServicesInMemoryTest::text).containsExactly("a", "bc", "d");
    }

    @Test
    void manyRequestsHaveManyAnswers() throws Exception {
        Probe<byte[]> words = Probe.ofAll();
        refer(Words.class).echo(Items.of(bytes("x"), bytes("y"))).subscribe(words);

        assertThat(words.rest()).extracting(ServicesInMemoryTest::text).containsExactly("x", "y");
    }

    @Test
    void statusOfTheServiceIsTheExceptionsCode() {
        assertThatThrownBy(() -> refer(Words.class).shout(bytes("")))
                .isInstanceOfSatisfying(RpcException.class, failure -> {
                    assertThat(failure.code()).isEqualTo(StatusCode.OUT_OF_RANGE);
                    assertThat(failure.status().description()).isEqualTo("nothing to shout");
                });
    }

    @Test
    void disconnectOfTheCallerCancelsTheContextAndTheService() throws Exception {
        Probe<byte[]> words = Probe.onDemand();
        refer(Words.class).endless(bytes("w")).subscribe(words);
        words.request(1);
        assertThat(text(words.next())).isEqualTo("w");

        words.cancel();

        assertThat(endlessCancelled.get(20, TimeUnit.SECONDS)).isNotNull();
    }

    private ServerServiceDefinition words() {
        return ServerServiceDefinition.builder("text.Words")
                .addMethod(method("Shout", MethodDescriptor.MethodType.UNARY), ServerCalls.asyncUnaryCall(this::shout))
                .addMethod(
                        method("Join", MethodDescriptor.MethodType.CLIENT_STREAMING),
                        ServerCalls.asyncClientStreamingCall(Joining::new))
                .addMethod(
                        method("Split", MethodDescriptor.MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(this::split))
                .addMethod(method("Echo", MethodDescriptor.MethodType.BIDI_STREAMING), echo())
                .addMethod(
                        method("Endless", MethodDescriptor.MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(this::endless))
                .build();
    }

    private void shout(String word, StreamObserver<String> answer) {
        if (word.isEmpty()) {
            answer.onError(
                    Status.OUT_OF_RANGE.withDescription("nothing to shout").asException());
            return;
        }
        answer.onNext(word.toUpperCase(Locale.ROOT));
        answer.onCompleted();
    }

    private void split(String words, StreamObserver<String> answers) {
        for (String word : words.split(" ")) {
            answers.onNext(word);
        }
        answers.onCompleted();
    }

    private void endless(String word, StreamObserver<String> answers) {
        ServerCallStreamObserver<String> caller = (ServerCallStreamObserver<String>) answers;
        CompletableFuture<Throwable> context = new CompletableFuture<>();
        Context.current().addListener(over -> context.complete(over.cancellationCause()), Runnable::run);
        caller.setOnCancelHandler(() -> context.thenAccept(endlessCancelled::complete));
        caller.setOnReadyHandler(() -> {
            while (caller.isReady()) {
                caller.onNext(word);
            }
        });
    }

    /** Returns a call handler that needs no generated stubs, and whose listener sends each request back. */
    private static ServerCallHandler<String, String> echo() {
        return new ServerCallHandler<>() {
            @Override
            public ServerCall.Listener<String> startCall(ServerCall<String, String> call, Metadata headers) {
                call.sendHeaders(new Metadata());
                call.request(1);
                return new ServerCall.Listener<>() {
                    @Override
                    public void onMessage(String word) {
                        call.sendMessage(word);
                        call.request(1);
                    }

                    @Override
                    public void onHalfClose() {
                        call.close(Status.OK, new Metadata());
                    }
                };
            }
        };
    }

    private static final class Joining implements StreamObserver<String> {
        private final StringBuilder joined = new StringBuilder();
        private final StreamObserver<String> answer;

        Joining(StreamObserver<String> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(String word) {
            joined.append(word);
        }

        @Override
        public void onError(Throwable failure) {
            // The exception is expected, because the caller has cancelled the call.
        }

        @Override
        public void onCompleted() {
            answer.onNext(joined.toString());
            answer.onCompleted();
        }
    }

    private static MethodDescriptor<String, String> method(String name, MethodDescriptor.MethodType type) {
        return MethodDescriptor.<String, String>newBuilder()
                .setType(type)
                .setFullMethodName("text.Words/" + name)
                .setRequestMarshaller(new Text())
                .setResponseMarshaller(new Text())
                .build();
    }

    private static final class Text implements Marshaller<String> {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(bytes(value));
        }

        @Override
        public String parse(InputStream bytes) {
            try {
                return text(bytes.readAllBytes());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    // ---- built-in services

    @Test
    void healthIsWatchedUntilTheShutdown() throws Exception {
        Probe<byte[]> statuses = Probe.ofAll();
        refer(Health.class)
                .watch(HealthCheckRequest.newBuilder()
                        .setService("later")
                        .build()
                        .toByteArray())
                .subscribe(statuses);
        assertThat(status(statuses.next())).isEqualTo(HealthCheckResponse.ServingStatus.SERVICE_UNKNOWN);

        health.set("later", ServingStatus.SERVING);
        assertThat(status(statuses.next())).isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
        health.shutDown();

        assertThat(status(statuses.next())).isEqualTo(HealthCheckResponse.ServingStatus.NOT_SERVING);
        assertThat(statuses.rest()).isEmpty();
    }

    private static HealthCheckResponse.ServingStatus status(byte[] response) throws IOException {
        return HealthCheckResponse.parseFrom(response).getStatus();
    }

    @Test
    void reflectionAnswersEachRequestOfItsStream() throws Exception {
        byte[] list =
                ServerReflectionRequest.newBuilder().setListServices("").build().toByteArray();
        Probe<byte[]> answers = Probe.ofAll();
        refer(Reflection.class).info(Items.of(list, list)).subscribe(answers);

        List<byte[]> all = answers.rest();

        assertThat(all).hasSize(2);
        assertThat(ServerReflectionResponse.parseFrom(all.get(1))
                        .getListServicesResponse()
                        .getServiceList())
                .extracting(service -> service.getName())
                .contains("text.Words", "grpc.health.v1.Health");
    }

    // ---- both sides

    private <T> T refer(Class<T> type) {
        return client.refer(ServiceReference.to(type, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
