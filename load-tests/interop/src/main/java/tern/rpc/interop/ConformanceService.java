package tern.rpc.interop;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;
import tern.rpc.WireName;
import tern.rpc.interop.conformance.BidiStreamRequest;
import tern.rpc.interop.conformance.BidiStreamResponse;
import tern.rpc.interop.conformance.ClientStreamRequest;
import tern.rpc.interop.conformance.ClientStreamResponse;
import tern.rpc.interop.conformance.IdempotentUnaryRequest;
import tern.rpc.interop.conformance.IdempotentUnaryResponse;
import tern.rpc.interop.conformance.ServerStreamRequest;
import tern.rpc.interop.conformance.ServerStreamResponse;
import tern.rpc.interop.conformance.UnaryRequest;
import tern.rpc.interop.conformance.UnaryResponse;

/**
 * The service of Connect's conformance suite (connectrpc/conformance/v1/service.proto). The {@code Unimplemented}
 * method is missing, as the suite requires.
 */
@WireName("connectrpc.conformance.v1.ConformanceService")
public interface ConformanceService {

    @WireName("Unary")
    CompletionStage<UnaryResponse> unary(UnaryRequest request);

    @WireName("IdempotentUnary")
    @RpcMethod(readOnly = true)
    CompletionStage<IdempotentUnaryResponse> idempotentUnary(IdempotentUnaryRequest request);

    @WireName("ServerStream")
    Flow.Publisher<ServerStreamResponse> serverStream(ServerStreamRequest request);

    @WireName("ClientStream")
    CompletionStage<ClientStreamResponse> clientStream(Flow.Publisher<ClientStreamRequest> requests);

    @WireName("BidiStream")
    Flow.Publisher<BidiStreamResponse> bidiStream(Flow.Publisher<BidiStreamRequest> requests);
}
