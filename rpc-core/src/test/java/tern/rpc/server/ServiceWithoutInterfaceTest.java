package tern.rpc.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.ServiceKey;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.client.RpcClient;
import tern.rpc.client.ServiceReference;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.endpoint.StaticEndpoints;
import tern.rpc.serialization.JdkSerializer;
import tern.rpc.transport.InMemoryTransport;
import tern.rpc.transport.Items;
import tern.rpc.transport.Probe;

/** Tests services whose operations are defined one by one, without a Java interface. The caller uses an interface. */
@Timeout(60)
class ServiceWithoutInterfaceTest {

    @WireName("some.raw.Service")
    interface Caller {
        byte[] unary(byte[] request);

        Flow.Publisher<byte[]> serverStream(byte[] request);

        CompletionStage<byte[]> clientStream(Flow.Publisher<byte[]> requests);

        Flow.Publisher<byte[]> both(Flow.Publisher<byte[]> requests);

        StreamObserver<byte[]> missing(StreamObserver<byte[]> answers);
    }

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            "some.raw.Service",
            List.of(
                    operation("unary", MethodType.UNARY),
                    operation("serverStream", MethodType.SERVER_STREAMING),
                    operation("clientStream", MethodType.CLIENT_STREAMING),
                    operation("both", MethodType.BIDI_STREAMING)));

    private static Operation operation(String name, MethodType type) {
        return new Operation(name, type, byte[].class, byte[].class);
    }

    @SuppressWarnings("unchecked")
    private static MethodBody body(MethodDescriptor method) {
        return switch (method.type()) {
            case UNARY -> arguments -> CompletableFuture.completedFuture(arguments[0]);
            case SERVER_STREAMING -> arguments -> Items.of((byte[]) arguments[0], (byte[]) arguments[0]);
            case CLIENT_STREAMING ->
                arguments -> {
                    CompletableFuture<byte[]> last = new CompletableFuture<>();
                    ((Flow.Publisher<byte[]>) arguments[0]).subscribe(new Last(last));
                    return last;
                };
            case BIDI_STREAMING -> arguments -> arguments[0];
        };
    }

    private static final class Last implements Flow.Subscriber<byte[]> {
        private final CompletableFuture<byte[]> result;
        private byte[] last = {};

        Last(CompletableFuture<byte[]> result) {
            this.result = result;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(byte[] value) {
            last = value;
        }

        @Override
        public void onError(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            result.complete(last);
        }
    }

    private final InMemoryTransport transport = new InMemoryTransport(new JdkSerializer());
    private final RpcServer server = RpcServer.builder(transport)
            .export(new ServiceExport(
                    SERVICE, new ServiceKey(SERVICE.name(), "", ""), ServiceWithoutInterfaceTest::body, 100))
            .build();
    private final RpcClient client = RpcClient.builder()
            .transport(transport)
            .timeout(Duration.ofSeconds(20))
            .build();

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private Caller caller() {
        server.start();
        return client.refer(ServiceReference.to(Caller.class, new StaticEndpoints(List.of(new Endpoint("memory", 0))))
                .protocol(InMemoryTransport.PROTOCOL)
                .build());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void everyKindOfCallIsServed() throws Exception {
        Caller caller = caller();
        Probe<byte[]> served = Probe.ofAll();
        Probe<byte[]> both = Probe.ofAll();

        assertThat(caller.unary(bytes("u"))).isEqualTo(bytes("u"));
        caller.serverStream(bytes("s")).subscribe(served);
        assertThat(served.rest()).containsExactly(bytes("s"), bytes("s"));
        assertThat(caller.clientStream(Items.of(bytes("a"), bytes("b")))
                        .toCompletableFuture()
                        .get(20, TimeUnit.SECONDS))
                .isEqualTo(bytes("b"));
        caller.both(Items.of(bytes("x"), bytes("y"))).subscribe(both);
        assertThat(both.rest()).containsExactly(bytes("x"), bytes("y"));
    }

    @Test
    void operationThatDoesNotExistIsRefused() throws Exception {
        Probe<byte[]> answers = Probe.ofAll();

        caller().missing(answers);

        assertThat(((RpcException) answers.failure()).code()).isEqualTo(StatusCode.UNIMPLEMENTED);
    }

    interface Streams {
        void watch(String name, StreamObserver<String> answers);
    }

    @Test
    void streamCannotBeCalledGenerically() {
        ServiceDescriptor service = ServiceDescriptor.of(Streams.class);
        GenericService generic = new GenericService(service, new MethodHandler[1]);

        assertThatThrownBy(() -> generic.$invoke("watch", null, new Object[] {"x"}))
                .isInstanceOfSatisfying(
                        RpcException.class,
                        failure -> assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED))
                .hasMessageContaining("Streams/watch")
                .hasMessageContaining("SERVER_STREAMING");
    }
}
