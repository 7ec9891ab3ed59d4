package tern.rpc.interop;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;
import tern.rpc.Metadata;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StreamObserver;
import tern.rpc.interop.testing.BoolValue;
import tern.rpc.interop.testing.EchoStatus;
import tern.rpc.interop.testing.Empty;
import tern.rpc.interop.testing.Payload;
import tern.rpc.interop.testing.ResponseParameters;
import tern.rpc.interop.testing.SimpleRequest;
import tern.rpc.interop.testing.SimpleResponse;
import tern.rpc.interop.testing.StreamingInputCallRequest;
import tern.rpc.interop.testing.StreamingInputCallResponse;
import tern.rpc.interop.testing.StreamingOutputCallRequest;
import tern.rpc.interop.testing.StreamingOutputCallResponse;

/**
 * Implements the server side of gRPC's interop suites, as defined in the gRPC project's document "Interoperability Test
 * Case Descriptions".
 */
final class InteropTestService implements TestService {

    private static final String ECHO_INITIAL = "x-grpc-test-echo-initial";

    /**
     * The name of a trailer with a binary value. On the wire, the name ends in {@code -bin}, like the names of all
     * binary headers.
     */
    private static final String ECHO_TRAILING = "x-grpc-test-echo-trailing";

    private final ScheduledExecutorService timer;

    InteropTestService(ScheduledExecutorService timer) {
        this.timer = timer;
    }

    @Override
    public Empty emptyCall(Empty request) {
        echoMetadata(context());
        return request;
    }

    @Override
    public SimpleResponse unaryCall(SimpleRequest request) {
        ServerContext context = context();
        echoMetadata(context);
        checkCompressed(context, request.getExpectCompressed());
        failAsAsked(request.getResponseStatus());
        if (request.hasResponseCompressed()) {
            context.compressResponse(request.getResponseCompressed().getValue());
        }
        return SimpleResponse.newBuilder()
                .setPayload(zeros(request.getResponseSize()))
                .build();
    }

    @Override
    public SimpleResponse cacheableUnaryCall(SimpleRequest request) {
        context().responseHeaders().put("cache-control", "max-age=60, public");
        return unaryCall(request);
    }

    @Override
    public void streamingOutputCall(
            StreamingOutputCallRequest request, StreamObserver<StreamingOutputCallResponse> responses) {
        ServerContext context = context();
        echoMetadata(context);
        Pause pause = new Pause(context);
        for (ResponseParameters parameters : request.getResponseParametersList()) {
            pause.micros(parameters.getIntervalUs());
            if (parameters.hasCompressed()) {
                context.compressResponse(parameters.getCompressed().getValue());
            }
            responses.onNext(output(parameters));
        }
        failAsAsked(request.getResponseStatus());
        responses.onCompleted();
    }

    @Override
    public CompletionStage<StreamingInputCallResponse> streamingInputCall(
            Flow.Publisher<StreamingInputCallRequest> requests) {
        ServerContext context = context();
        echoMetadata(context);
        Sum sum = new Sum(context);
        requests.subscribe(sum);
        return sum.result;
    }

    @Override
    public Flow.Publisher<StreamingOutputCallResponse> fullDuplexCall(
            Flow.Publisher<StreamingOutputCallRequest> requests) {
        echoMetadata(context());
        return new ScriptedPublisher<>(requests, new AnswersAtOnce(), timer);
    }

    @Override
    public StreamObserver<StreamingOutputCallRequest> halfDuplexCall(
            StreamObserver<StreamingOutputCallResponse> responses) {
        echoMetadata(context());
        return new AnswersLater(responses, new Pause(context()));
    }

    private static ServerContext context() {
        return Objects.requireNonNull(ServerContext.current(), "a call is being served");
    }

    private static void echoMetadata(ServerContext context) {
        Metadata sent = context.metadata();
        String initial = sent.get(ECHO_INITIAL);
        if (initial != null) {
            context.responseHeaders().put(ECHO_INITIAL, initial);
        }
        byte[] trailing = sent.getBytes(ECHO_TRAILING);
        if (trailing != null) {
            context.responseMetadata().put(ECHO_TRAILING, trailing);
        }
    }

    private static void checkCompressed(ServerContext context, BoolValue expected) {
        if (expected.getValue() && !context.isRequestCompressed()) {
            throw new RpcException(
                    StatusCode.INVALID_ARGUMENT, "expect_compressed is true; the request was not compressed");
        }
    }

    private static void failAsAsked(EchoStatus status) {
        int code = status.getCode();
        if (code != 0) {
            StatusCode[] codes = StatusCode.values();
            throw new RpcException(
                    code > 0 && code < codes.length ? codes[code] : StatusCode.UNKNOWN, status.getMessage());
        }
    }

    private static Payload zeros(int size) {
        return Payload.newBuilder().setBody(ByteString.copyFrom(new byte[size])).build();
    }

    private static StreamingOutputCallResponse output(ResponseParameters parameters) {
        return StreamingOutputCallResponse.newBuilder()
                .setPayload(zeros(parameters.getSize()))
                .build();
    }

    /** Adds up the payload sizes of a request stream. */
    private static final class Sum implements Flow.Subscriber<StreamingInputCallRequest> {

        private final ServerContext context;
        private final CompletableFuture<StreamingInputCallResponse> result = new CompletableFuture<>();
        private Flow.@Nullable Subscription subscription;
        private int bytes;

        private Sum(ServerContext context) {
            this.context = context;
        }

        @Override
        public void onSubscribe(Flow.Subscription given) {
            subscription = given;
            // Requests are read one at a time, because the call's context reports only the compression of the latest
            // request.
            given.request(1);
        }

        @Override
        public void onNext(StreamingInputCallRequest request) {
            Flow.Subscription current = Objects.requireNonNull(subscription);
            try {
                checkCompressed(context, request.getExpectCompressed());
            } catch (RpcException e) {
                current.cancel();
                result.completeExceptionally(e);
                return;
            }
            bytes += request.getPayload().getBody().size();
            current.request(1);
        }

        @Override
        public void onError(Throwable failure) {
            result.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            result.complete(StreamingInputCallResponse.newBuilder()
                    .setAggregatedPayloadSize(bytes)
                    .build());
        }
    }

    private static final class AnswersAtOnce
            implements Script<StreamingOutputCallRequest, StreamingOutputCallResponse> {

        @Override
        public List<Answer<StreamingOutputCallResponse>> to(StreamingOutputCallRequest request) {
            failAsAsked(request.getResponseStatus());
            List<Answer<StreamingOutputCallResponse>> answers = new ArrayList<>();
            for (ResponseParameters parameters : request.getResponseParametersList()) {
                answers.add(Answer.of(output(parameters), Duration.of(parameters.getIntervalUs(), ChronoUnit.MICROS)));
            }
            return answers;
        }

        @Override
        public List<Answer<StreamingOutputCallResponse>> atEnd() {
            return List.of();
        }
    }

    private static final class AnswersLater implements StreamObserver<StreamingOutputCallRequest> {

        private final StreamObserver<StreamingOutputCallResponse> responses;
        private final Pause pause;
        private final List<StreamingOutputCallRequest> received = new ArrayList<>();

        private AnswersLater(StreamObserver<StreamingOutputCallResponse> responses, Pause pause) {
            this.responses = responses;
            this.pause = pause;
        }

        @Override
        public void onNext(StreamingOutputCallRequest request) {
            received.add(request);
        }

        @Override
        public void onError(Throwable failure) {
            received.clear();
        }

        @Override
        public void onCompleted() {
            for (StreamingOutputCallRequest request : received) {
                for (ResponseParameters parameters : request.getResponseParametersList()) {
                    pause.micros(parameters.getIntervalUs());
                    responses.onNext(output(parameters));
                }
            }
            responses.onCompleted();
        }
    }
}
