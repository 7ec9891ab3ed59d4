package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.protobuf.Any;
import com.google.protobuf.StringValue;
import io.grpc.Context;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.Invocation;
import tern.rpc.MethodDescriptor;
import tern.rpc.MethodType;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceDescriptor.Operation;
import tern.rpc.StatusCode;
import tern.rpc.endpoint.Endpoint;
import tern.rpc.netty.triple.Requests.Opened;
import tern.rpc.transport.ClientConnection;
import tern.rpc.transport.PendingCall;
import tern.rpc.transport.RemoteFailures;

/** Tests Tern's client against a grpc-java server. */
@Timeout(60)
class TripleGrpcServerTest {

    private static final String NAME = "raw.Service";

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(
            NAME,
            List.of(
                    new Operation("one", MethodType.UNARY, byte[].class, byte[].class),
                    new Operation("missing", MethodType.UNARY, byte[].class, byte[].class),
                    new Operation("down", MethodType.SERVER_STREAMING, byte[].class, byte[].class),
                    new Operation("up", MethodType.CLIENT_STREAMING, byte[].class, byte[].class),
                    new Operation("both", MethodType.BIDI_STREAMING, byte[].class, byte[].class)));

    private static final Metadata.Key<String> TEXT = Metadata.Key.of("text", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<byte[]> BYTES = Metadata.Key.of("bytes-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private static final Metadata.Key<String> SEEN = Metadata.Key.of("seen", Metadata.ASCII_STRING_MARSHALLER);

    private final Requests requests = new Requests();
    private final ExecutorService executor = Executors.newCachedThreadPool();
    private final List<Server> servers = new ArrayList<>();
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final CountDownLatch letGo = new CountDownLatch(1);

    @AfterEach
    void close() throws InterruptedException {
        letGo.countDown();
        requests.close();
        for (Server server : servers) {
            server.shutdownNow();
            assertThat(server.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
        }
        executor.shutdownNow();
    }

    // Server methods

    private static final class Bytes implements io.grpc.MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static io.grpc.MethodDescriptor<byte[], byte[]> method(
            String name, io.grpc.MethodDescriptor.MethodType type) {
        return io.grpc.MethodDescriptor.newBuilder(new Bytes(), new Bytes())
                .setFullMethodName(NAME + "/" + name)
                .setType(type)
                .build();
    }

    private ServerServiceDefinition definition() {
        return ServerServiceDefinition.builder(NAME)
                .addMethod(
                        method("one", io.grpc.MethodDescriptor.MethodType.UNARY), ServerCalls.asyncUnaryCall(this::one))
                .addMethod(
                        method("down", io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING),
                        ServerCalls.asyncServerStreamingCall(this::down))
                .addMethod(
                        method("up", io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING),
                        ServerCalls.asyncClientStreamingCall(Sum::new))
                .addMethod(
                        method("both", io.grpc.MethodDescriptor.MethodType.BIDI_STREAMING),
                        ServerCalls.asyncBidiStreamingCall(TripleGrpcServerTest::both))
                .build();
    }

    /**
     * Answers a unary request with the same message. Certain strings in the request cause a different answer or a
     * failure.
     */
    private void one(byte[] request, StreamObserver<byte[]> answers) {
        switch (new String(request, 0, Math.min(20, request.length), UTF_8)) {
            case "fail" ->
                answers.onError(StatusProto.toStatusRuntimeException(
                        com.google.rpc.Status.newBuilder()
                                .setCode(9)
                                .setMessage("no é%\nentry +")
                                .addDetails(Any.pack(StringValue.of("more")))
                                .build(),
                        trailers()));
            case "throw" -> throw new StatusRuntimeException(Status.UNKNOWN);
            case "hang" -> {
                Context.current().addListener(context -> told.add("cancelled"), Runnable::run);
                told.add("hanging");
            }
            case "block" -> {
                told.add("blocked");
                try {
                    letGo.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                answers.onNext(request);
                answers.onCompleted();
            }
            default -> {
                answers.onNext(request);
                answers.onCompleted();
            }
        }
    }

    private static Metadata trailers() {
        Metadata trailers = new Metadata();
        trailers.put(TEXT, "trailing");
        trailers.put(BYTES, new byte[] {1, 2, -1});
        return trailers;
    }

    /** Sends a message of 64 KiB for each byte of the request. */
    private void down(byte[] request, StreamObserver<byte[]> answers) {
        ServerCallStreamObserver<byte[]> sink = (ServerCallStreamObserver<byte[]>) answers;
        sink.setOnReadyHandler(new Runnable() {
            private int sent;

            @Override
            public void run() {
                while (sink.isReady() && sent < request.length) {
                    sink.onNext(new byte[64 << 10]);
                    sent++;
                }
                told.add(String.valueOf(sent));
                if (sent == request.length) {
                    sent++;
                    sink.onCompleted();
                }
            }
        });
    }

    /** Answers a stream of requests with the number of received bytes. */
    private static final class Sum implements StreamObserver<byte[]> {
        private final StreamObserver<byte[]> answer;
        private int bytes;

        Sum(StreamObserver<byte[]> answer) {
            this.answer = answer;
        }

        @Override
        public void onNext(byte[] value) {
            bytes += value.length;
        }

        @Override
        public void onError(Throwable failure) {
            // the client has cancelled the call, so there is nothing to do
        }

        @Override
        public void onCompleted() {
            answer.onNext(String.valueOf(bytes).getBytes(UTF_8));
            answer.onCompleted();
        }
    }

    private static StreamObserver<byte[]> both(StreamObserver<byte[]> answers) {
        return new StreamObserver<>() {
            @Override
            public void onNext(byte[] value) {
                answers.onNext(value);
            }

            @Override
            public void onError(Throwable failure) {
                // the client has cancelled the call, so there is nothing to do
            }

            @Override
            public void onCompleted() {
                answers.onCompleted();
            }
        };
    }

    /** Copies the received headers to the answer and adds new headers. */
    private static final class Headers implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return next.startCall(
                    new SimpleForwardingServerCall<>(call) {
                        @Override
                        public void sendHeaders(Metadata sent) {
                            if (headers.containsKey(TEXT)) {
                                sent.put(SEEN, headers.get(TEXT) + " " + headers.get(BYTES).length);
                                call.setCompression("gzip");
                            }
                            super.sendHeaders(sent);
                        }

                        @Override
                        public void close(Status status, Metadata trailers) {
                            if (headers.containsKey(TEXT)) {
                                trailers.merge(trailers());
                            }
                            super.close(status, trailers);
                        }
                    },
                    headers);
        }
    }

    private Server start(UnaryOperator<NettyServerBuilder> settings) {
        ServerBuilder<?> builder = settings.apply(
                        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                .addService(definition())
                .intercept(new Headers())
                .executor(executor);
        try {
            Server server = builder.build().start();
            servers.add(server);
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ClientConnection connect(Server server) {
        return requests.connect(new Endpoint("127.0.0.1", server.getPort()));
    }

    private ClientConnection connect() {
        return connect(start(builder -> builder));
    }

    private static MethodDescriptor method(String name) {
        return SERVICE.overloads(name).get(0);
    }

    private PendingCall send(ClientConnection connection, String message) {
        return Requests.send(connection, requests.call(method("one"), (Object) message.getBytes(UTF_8)));
    }

    private static Response response(PendingCall pending) {
        try {
            return pending.await();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static String answer(PendingCall pending) {
        return new String((byte[]) response(pending).value(), UTF_8);
    }

    private static RpcException failure(PendingCall pending) {
        Throwable thrown = catchThrowable(pending::await);
        assertThat(thrown).isInstanceOf(RpcException.class);
        return (RpcException) thrown;
    }

    private String told() throws InterruptedException {
        String next = told.poll(20, TimeUnit.SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    // Call tests

    @Test
    void callIsAnswered() {
        ClientConnection connection = connect();

        assertThat(answer(send(connection, "hello"))).isEqualTo("hello");
        assertThat(answer(send(connection, ""))).isEmpty();
    }

    @Test
    void messageOfMegabytesIsSentInBothDirections() {
        ClientConnection connection = connect(start(builder -> builder.maxInboundMessageSize(8 << 20)));
        String large = "x".repeat(5 << 20);

        assertThat(answer(send(connection, large))).isEqualTo(large);
    }

    @Test
    void statusTextDetailsAndTrailersArrive() {
        RpcException failure = failure(send(connect(), "fail"));

        assertThat(failure.code()).isEqualTo(StatusCode.FAILED_PRECONDITION);
        assertThat(failure.status().description()).isEqualTo("no é%\nentry +");
        assertThat(failure.status().details())
                .singleElement()
                .satisfies(detail ->
                        assertThat(detail.typeUrl()).isEqualTo("type.googleapis.com/google.protobuf.StringValue"));
        assertThat(failure.metadata().get("text")).isEqualTo("trailing");
        assertThat(failure.metadata().getBytes("bytes")).containsExactly(1, 2, -1);
        assertThat(failure.metadata().getBytes("bytes-bin")).containsExactly(1, 2, -1);
        assertThat(failure.metadata().names()).contains("bytes-bin");
    }

    @Test
    void headersAndTrailersAreSentInBothDirectionsAndAnswersMayBeCompressed() {
        ClientConnection connection = connect();
        Invocation call =
                requests.call(method("one"), (Object) "hello ".repeat(100).getBytes(UTF_8));
        call.metadata().put("text", "v").put("bytes", new byte[] {7, 8, 9});

        Response response = response(Requests.send(connection, call));

        assertThat((byte[]) response.value()).hasSize(600);
        assertThat(response.headers().get("seen")).isEqualTo("v 3");
        assertThat(response.metadata().get("text")).isEqualTo("trailing");
        assertThat(response.metadata().getBytes("bytes")).containsExactly(1, 2, -1);
    }

    @Test
    void compressedRequestIsUnderstood() {
        ClientConnection connection = connect();
        byte[] text = "x".repeat(100_000).getBytes(UTF_8);
        Invocation call = requests.call(method("one"), (Object) text).withCompression(true);

        assertThat((byte[]) response(Requests.send(connection, call)).value()).isEqualTo(text);
    }

    @Test
    void methodThatDoesNotExistIsUnimplemented() {
        ClientConnection connection = connect();

        RpcException failure =
                failure(Requests.send(connection, requests.call(method("missing"), (Object) new byte[0])));

        assertThat(failure.code()).isEqualTo(StatusCode.UNIMPLEMENTED);
        assertThat(RemoteFailures.missing(failure)).isEqualTo(RemoteFailures.Missing.SERVICE_OR_METHOD);
        assertThat(failure).hasMessageContaining("raw.Service/missing");
    }

    @Test
    void deadlineCancelsTheCallAtTheServer() throws InterruptedException {
        ClientConnection connection = connect();
        assertThat(answer(send(connection, "first"))).isEqualTo("first");
        byte[] request = "hang".getBytes(UTF_8);
        PendingCall pending =
                Requests.send(connection, requests.call(method("one"), Duration.ofSeconds(2), (Object) request));

        assertThat(told()).isEqualTo("hanging");
        assertThat(failure(pending).code()).isEqualTo(StatusCode.DEADLINE_EXCEEDED);
        assertThat(told()).isEqualTo("cancelled");
        assertThat(answer(send(connection, "fine"))).isEqualTo("fine");
    }

    @Test
    void cancelReachesTheServer() throws InterruptedException {
        ClientConnection connection = connect();
        PendingCall pending = send(connection, "hang");
        assertThat(told()).isEqualTo("hanging");

        pending.fail(RpcException.refusal(StatusCode.CANCELLED, "on purpose", RpcException.Executed.MAYBE));

        assertThat(told()).isEqualTo("cancelled");
    }

    @Test
    void moreCallsThanTheServerAllowsAtOnceAreAllAnswered() {
        ClientConnection connection = connect(start(builder -> builder.maxConcurrentCallsPerConnection(2)));
        List<PendingCall> calls = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            calls.add(send(connection, "call " + i));
        }

        for (int i = 0; i < 200; i++) {
            assertThat(answer(calls.get(i))).isEqualTo("call " + i);
        }
    }

    @Test
    void callsRunningWhileTheServerStopsAreAnswered() throws InterruptedException {
        Server server = start(builder -> builder);
        ClientConnection connection = connect(server);
        PendingCall running = send(connection, "block");
        assertThat(told()).isEqualTo("blocked");

        server.shutdown();
        letGo.countDown();

        assertThat(answer(running)).isEqualTo("block");
        assertThat(server.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void streamOfAnswersIsSlowedDownByItsReader() throws InterruptedException {
        Opened opened = requests.open(connect(), requests.call(method("down"), (Object) new byte[100]));
        String sentAtFirst = told();
        opened.stream.request(1);
        opened.next(tern.rpc.Metadata.class);
        assertThat(opened.next(byte[].class)).hasSize(64 << 10);

        assertThat(Integer.parseInt(sentAtFirst)).isLessThan(100);
        assertThat(opened.pending.isDone()).isFalse();
        for (int i = 1; i < 100; i++) {
            opened.stream.request(1);
            assertThat(opened.next(byte[].class)).hasSize(64 << 10);
        }
        opened.next(Response.class);
    }

    @Test
    void streamOfRequestsIsTaken() {
        Opened opened = requests.open(connect(), requests.call(method("up")));
        opened.stream.request(2);
        for (int i = 0; i < 50; i++) {
            opened.stream.send(new byte[1_000]);
        }
        opened.stream.end();

        opened.next(tern.rpc.Metadata.class);
        assertThat(new String(opened.next(byte[].class), UTF_8)).isEqualTo("50000");
        opened.next(Response.class);
    }

    @Test
    void bothSidesTalkInTurn() {
        Opened opened = requests.open(connect(), requests.call(method("both")));
        opened.stream.request(100);
        for (int i = 0; i < 20; i++) {
            opened.stream.send(("m" + i).getBytes(UTF_8));
            if (i == 0) {
                opened.next(tern.rpc.Metadata.class);
            }
            assertThat(new String(opened.next(byte[].class), UTF_8)).isEqualTo("m" + i);
        }
        opened.stream.end();

        opened.next(Response.class);
    }

    @Test
    void emptyStreamEnds() {
        Opened opened = requests.open(connect(), requests.call(method("both")));
        opened.stream.end();

        Object end = opened.next();
        assertThat(end instanceof tern.rpc.Metadata ? opened.next() : end).isInstanceOf(Response.class);
    }

    @Test
    void streamOfManyMegabytesEachWayArrives() {
        Opened opened = requests.open(connect(), requests.call(method("both")));
        opened.stream.request(10);
        byte[] message = new byte[200_000];
        int sent = 0;
        int got = 0;
        boolean ended = false;
        while (!ended) {
            while (sent < 100 && opened.stream.isReady()) {
                opened.stream.send(message);
                if (++sent == 100) {
                    opened.stream.end();
                }
            }
            Object event = opened.next();
            if (event instanceof byte[] bytes) {
                assertThat(bytes).hasSize(200_000);
                got++;
                opened.stream.request(1);
            }
            ended = event instanceof Response;
        }
        assertThat(got).isEqualTo(100);
    }
}
