package tern.rpc.interop;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.StreamObserver;
import tern.rpc.WireName;
import tern.rpc.interop.testing.Empty;
import tern.rpc.interop.testing.SimpleRequest;
import tern.rpc.interop.testing.SimpleResponse;
import tern.rpc.interop.testing.StreamingInputCallRequest;
import tern.rpc.interop.testing.StreamingInputCallResponse;
import tern.rpc.interop.testing.StreamingOutputCallRequest;
import tern.rpc.interop.testing.StreamingOutputCallResponse;

/**
 * The service of gRPC's interop suites (grpc/testing/test.proto). Its methods cover all kinds of signatures that Tern
 * supports. The {@code UnimplementedCall} method is missing, as the suites require.
 */
@WireName("grpc.testing.TestService")
public interface TestService {

    @WireName("EmptyCall")
    Empty emptyCall(Empty request);

    @WireName("UnaryCall")
    SimpleResponse unaryCall(SimpleRequest request);

    @WireName("CacheableUnaryCall")
    SimpleResponse cacheableUnaryCall(SimpleRequest request);

    @WireName("StreamingOutputCall")
    void streamingOutputCall(StreamingOutputCallRequest request, StreamObserver<StreamingOutputCallResponse> responses);

    @WireName("StreamingInputCall")
    CompletionStage<StreamingInputCallResponse> streamingInputCall(Flow.Publisher<StreamingInputCallRequest> requests);

    /** Answers each request as soon as it arrives. */
    @WireName("FullDuplexCall")
    Flow.Publisher<StreamingOutputCallResponse> fullDuplexCall(Flow.Publisher<StreamingOutputCallRequest> requests);

    /** Answers all requests after the last request has arrived. */
    @WireName("HalfDuplexCall")
    StreamObserver<StreamingOutputCallRequest> halfDuplexCall(StreamObserver<StreamingOutputCallResponse> responses);
}
