package tern.rpc.interop;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import tern.rpc.CallOptions;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.interop.testing.BoolValue;
import tern.rpc.interop.testing.EchoStatus;
import tern.rpc.interop.testing.Empty;
import tern.rpc.interop.testing.Payload;
import tern.rpc.interop.testing.ResponseParameters;
import tern.rpc.interop.testing.SimpleRequest;
import tern.rpc.interop.testing.SimpleResponse;
import tern.rpc.interop.testing.StreamingInputCallRequest;
import tern.rpc.interop.testing.StreamingOutputCallRequest;
import tern.rpc.interop.testing.StreamingOutputCallResponse;

/**
 * The cases of gRPC's interop suites, as defined in the gRPC project's document "Interoperability Test Case
 * Descriptions".
 */
final class InteropCases {

    private static final int LARGE_REQUEST = 271_828;
    private static final int LARGE_RESPONSE = 314_159;
    private static final int[] REQUEST_SIZES = {27_182, 8, 1_828, 45_904};
    private static final int[] RESPONSE_SIZES = {31_415, 9, 2_653, 58_979};

    private final InteropConnection connection;
    private final TestService service;

    InteropCases(InteropConnection connection) {
        this.connection = connection;
        this.service = connection.refer(TestService.class);
    }

    /**
     * Runs the case with the given name.
     *
     * @throws Throwable if the case fails
     */
    void run(String name) throws Throwable {
        switch (name) {
            case "empty_unary" -> equal(service.emptyCall(Empty.getDefaultInstance()), Empty.getDefaultInstance());
            case "large_unary" -> largeUnary();
            case "client_streaming" -> clientStreaming();
            case "server_streaming" -> serverStreaming(null);
            case "ping_pong" -> pingPong();
            case "empty_stream" -> emptyStream();
            case "timeout_on_sleeping_server" -> timeoutOnSleepingServer();
            case "cancel_after_begin" -> cancelAfterBegin();
            case "cancel_after_first_response" -> cancelAfterFirstResponse();
            case "status_code_and_message" -> statusCodeAndMessage();
            case "special_status_message" -> specialStatusMessage();
            case "unimplemented_method" ->
                unimplemented(connection.refer(UnimplementedMethods.OfTestService.class)::unimplementedCall);
            case "unimplemented_service" ->
                unimplemented(connection.refer(UnimplementedMethods.OfNoService.class)::unimplementedCall);
            case "custom_metadata" -> customMetadata();
            case "client_compressed_unary_noprobe" -> clientCompressedUnary();
            case "server_compressed_unary" -> serverCompressedUnary();
            case "server_compressed_streaming" -> serverStreaming(new boolean[] {true, false, true, false});
            default -> throw new IllegalArgumentException("there is no case " + name);
        }
    }

    void largeUnary() {
        equal(size(service.unaryCall(large().build())), LARGE_RESPONSE);
    }

    private void clientStreaming() throws Exception {
        SubmissionPublisher<StreamingInputCallRequest> requests = new SubmissionPublisher<>();
        var answer = service.streamingInputCall(requests).toCompletableFuture();
        for (int size : REQUEST_SIZES) {
            requests.submit(StreamingInputCallRequest.newBuilder()
                    .setPayload(zeros(size))
                    .build());
        }
        requests.close();
        equal(
                answer.get(30, TimeUnit.SECONDS).getAggregatedPayloadSize(),
                Arrays.stream(REQUEST_SIZES).sum());
    }

    private void serverStreaming(boolean @Nullable [] compressed) throws Throwable {
        StreamingOutputCallRequest.Builder request = StreamingOutputCallRequest.newBuilder();
        for (int i = 0; i < RESPONSE_SIZES.length; i++) {
            ResponseParameters.Builder parameters =
                    ResponseParameters.newBuilder().setSize(RESPONSE_SIZES[i]);
            if (compressed != null) {
                parameters.setCompressed(bool(compressed[i]));
            }
            request.addResponseParameters(parameters);
        }
        Answers<StreamingOutputCallResponse> answers = new Answers<>();
        service.streamingOutputCall(request.build(), answers);
        equal(
                answers.rest().stream().map(InteropCases::size).toList(),
                IntStream.of(RESPONSE_SIZES).boxed().toList());
    }

    private void pingPong() throws Throwable {
        SubmissionPublisher<StreamingOutputCallRequest> requests = new SubmissionPublisher<>();
        Answers<StreamingOutputCallResponse> answers = Answers.of(service.fullDuplexCall(requests));
        for (int i = 0; i < RESPONSE_SIZES.length; i++) {
            requests.submit(output(REQUEST_SIZES[i], RESPONSE_SIZES[i]));
            equal(size(answers.next()), RESPONSE_SIZES[i]);
        }
        requests.close();
        equal(answers.rest(), List.of());
    }

    private void emptyStream() throws Throwable {
        SubmissionPublisher<StreamingOutputCallRequest> requests = new SubmissionPublisher<>();
        Answers<StreamingOutputCallResponse> answers = Answers.of(service.fullDuplexCall(requests));
        requests.close();
        equal(answers.rest(), List.of());
    }

    private void timeoutOnSleepingServer() {
        SubmissionPublisher<StreamingOutputCallRequest> requests = new SubmissionPublisher<>();
        TestService hurried = CallOptions.none().timeout(Duration.ofMillis(1)).on(service);
        Answers<StreamingOutputCallResponse> answers = Answers.of(hurried.fullDuplexCall(requests));
        requests.submit(output(27_182, 31_415));
        failsWith(StatusCode.DEADLINE_EXCEEDED, answers::rest);
    }

    private void cancelAfterBegin() throws Exception {
        CancelSeen<StreamingInputCallRequest> requests = new CancelSeen<>();
        CompletableFuture<?> answer = service.streamingInputCall(requests).toCompletableFuture();
        answer.cancel(false);
        requests.await();
        equal(answer.isCancelled(), true);
    }

    private void cancelAfterFirstResponse() throws Throwable {
        SubmissionPublisher<StreamingOutputCallRequest> requests = new SubmissionPublisher<>();
        CancelSeen<StreamingOutputCallRequest> watched = new CancelSeen<>(requests);
        Answers<StreamingOutputCallResponse> answers = Answers.of(service.fullDuplexCall(watched));
        requests.submit(output(27_182, 31_415));
        equal(size(answers.next()), 31_415);
        answers.cancel();
        watched.await();
    }

    private void statusCodeAndMessage() {
        EchoStatus status = EchoStatus.newBuilder()
                .setCode(2)
                .setMessage("test status message")
                .build();
        equal(unaryFailure(status), status.getMessage());
        SubmissionPublisher<StreamingOutputCallRequest> requests = new SubmissionPublisher<>();
        Answers<StreamingOutputCallResponse> answers = Answers.of(service.fullDuplexCall(requests));
        requests.submit(StreamingOutputCallRequest.newBuilder()
                .setResponseStatus(status)
                .build());
        requests.close();
        equal(failsWith(StatusCode.UNKNOWN, answers::rest).status().description(), status.getMessage());
    }

    private void specialStatusMessage() {
        String message = "\t\ntest with whitespace\r\nand Unicode BMP \u263A and non-BMP \uD83D\uDE08\t\n";
        equal(
                unaryFailure(
                        EchoStatus.newBuilder().setCode(2).setMessage(message).build()),
                message);
    }

    private String unaryFailure(EchoStatus status) {
        return failsWith(
                        StatusCode.UNKNOWN,
                        () -> service.unaryCall(SimpleRequest.newBuilder()
                                .setResponseStatus(status)
                                .build()))
                .status()
                .description();
    }

    private interface EmptyMethod {
        Empty call(Empty request);
    }

    private static void unimplemented(EmptyMethod method) {
        failsWith(StatusCode.UNIMPLEMENTED, () -> method.call(Empty.getDefaultInstance()));
    }

    private void customMetadata() throws Throwable {
        byte[] bytes = {(byte) 0xab, (byte) 0xab, (byte) 0xab};
        AtomicReference<Metadata> headers = new AtomicReference<>(new Metadata());
        AtomicReference<Metadata> trailers = new AtomicReference<>(new Metadata());
        TestService withHeaders = CallOptions.none()
                .header("x-grpc-test-echo-initial", "test_initial_metadata_value")
                .header("x-grpc-test-echo-trailing", bytes)
                .onResponseHeaders(headers::set)
                .onResponseTrailers(trailers::set)
                .on(service);

        equal(size(withHeaders.unaryCall(large().build())), LARGE_RESPONSE);
        checkEcho(headers, trailers, bytes);

        SubmissionPublisher<StreamingOutputCallRequest> requests = new SubmissionPublisher<>();
        Answers<StreamingOutputCallResponse> answers = Answers.of(withHeaders.fullDuplexCall(requests));
        requests.submit(output(LARGE_REQUEST, LARGE_RESPONSE));
        requests.close();
        equal(answers.rest().size(), 1);
        checkEcho(headers, trailers, bytes);
    }

    private static void checkEcho(AtomicReference<Metadata> headers, AtomicReference<Metadata> trailers, byte[] bytes) {
        equal(headers.getAndSet(new Metadata()).get("x-grpc-test-echo-initial"), "test_initial_metadata_value");
        byte[] trailing = trailers.getAndSet(new Metadata()).getBytes("x-grpc-test-echo-trailing");
        equal(Arrays.toString(trailing), Arrays.toString(bytes));
    }

    private void clientCompressedUnary() {
        TestService compressing = CallOptions.none().compressed().on(service);
        equal(size(compressing.unaryCall(large().setExpectCompressed(bool(true)).build())), LARGE_RESPONSE);
        equal(size(service.unaryCall(large().setExpectCompressed(bool(false)).build())), LARGE_RESPONSE);
    }

    private void serverCompressedUnary() {
        equal(size(service.unaryCall(large().setResponseCompressed(bool(true)).build())), LARGE_RESPONSE);
        equal(size(service.unaryCall(large().setResponseCompressed(bool(false)).build())), LARGE_RESPONSE);
    }

    private static SimpleRequest.Builder large() {
        return SimpleRequest.newBuilder().setResponseSize(LARGE_RESPONSE).setPayload(zeros(LARGE_REQUEST));
    }

    private static StreamingOutputCallRequest output(int requestSize, int responseSize) {
        return StreamingOutputCallRequest.newBuilder()
                .addResponseParameters(ResponseParameters.newBuilder().setSize(responseSize))
                .setPayload(zeros(requestSize))
                .build();
    }

    private static Payload zeros(int size) {
        return Payload.newBuilder().setBody(ByteString.copyFrom(new byte[size])).build();
    }

    private static BoolValue bool(boolean value) {
        return BoolValue.newBuilder().setValue(value).build();
    }

    private static int size(SimpleResponse response) {
        return response.getPayload().getBody().size();
    }

    private static int size(StreamingOutputCallResponse response) {
        return response.getPayload().getBody().size();
    }

    private interface Call {
        Object run() throws Throwable;
    }

    private static RpcException failsWith(StatusCode code, Call call) {
        try {
            Object value = call.run();
            throw new AssertionError("expected " + code + ", got " + value);
        } catch (RpcException e) {
            equal(e.code(), code);
            return e;
        } catch (AssertionError e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("expected " + code, e);
        }
    }

    private static void equal(@Nullable Object actual, Object expected) {
        if (!Objects.equals(actual, expected)) {
            throw new AssertionError("expected " + expected + ", was " + actual);
        }
    }

    /** A publisher of requests that records whether its subscriber has cancelled the subscription. */
    private static final class CancelSeen<Q> implements Flow.Publisher<Q> {

        private final SubmissionPublisher<Q> requests;
        private final CountDownLatch cancelled = new CountDownLatch(1);

        private CancelSeen() {
            this(new SubmissionPublisher<>());
        }

        private CancelSeen(SubmissionPublisher<Q> requests) {
            this.requests = requests;
        }

        @Override
        public void subscribe(Flow.Subscriber<? super Q> subscriber) {
            requests.subscribe(new Flow.Subscriber<>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscriber.onSubscribe(new Flow.Subscription() {
                        @Override
                        public void request(long count) {
                            subscription.request(count);
                        }

                        @Override
                        public void cancel() {
                            cancelled.countDown();
                            subscription.cancel();
                        }
                    });
                }

                @Override
                public void onNext(Q request) {
                    subscriber.onNext(request);
                }

                @Override
                public void onError(Throwable failure) {
                    subscriber.onError(failure);
                }

                @Override
                public void onComplete() {
                    subscriber.onComplete();
                }
            });
        }

        private void await() throws InterruptedException {
            if (!cancelled.await(30, TimeUnit.SECONDS)) {
                throw new AssertionError("the cancelled call still asks for requests");
            }
        }
    }
}
