package tern.rpc.interop;

import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import tern.rpc.interop.conformance.BidiStreamRequest;
import tern.rpc.interop.conformance.BidiStreamResponse;
import tern.rpc.interop.conformance.ClientStreamRequest;
import tern.rpc.interop.conformance.ClientStreamResponse;
import tern.rpc.interop.conformance.ConformancePayload;
import tern.rpc.interop.conformance.IdempotentUnaryRequest;
import tern.rpc.interop.conformance.IdempotentUnaryResponse;
import tern.rpc.interop.conformance.ServerStreamRequest;
import tern.rpc.interop.conformance.ServerStreamResponse;
import tern.rpc.interop.conformance.UnaryRequest;
import tern.rpc.interop.conformance.UnaryResponse;
import tern.rpc.interop.conformance.UnaryResponseDefinition;

/**
 * Sends the answers that the requests of Connect's conformance suite define. The answers contain the data of the call.
 */
final class InteropConformanceService implements ConformanceService {

    private final ScheduledExecutorService timer;

    InteropConformanceService(ScheduledExecutorService timer) {
        this.timer = timer;
    }

    @Override
    public CompletionStage<UnaryResponse> unary(UnaryRequest request) {
        return one(
                request,
                request.getResponseDefinition(),
                payload -> UnaryResponse.newBuilder().setPayload(payload).build());
    }

    @Override
    public CompletionStage<IdempotentUnaryResponse> idempotentUnary(IdempotentUnaryRequest request) {
        return one(
                request,
                request.getResponseDefinition(),
                payload ->
                        IdempotentUnaryResponse.newBuilder().setPayload(payload).build());
    }

    @Override
    public Flow.Publisher<ServerStreamResponse> serverStream(ServerStreamRequest request) {
        ConformanceCall call = new ConformanceCall();
        call.received(request);
        ConformanceStream<ServerStreamResponse> stream = new ConformanceStream<>(
                call,
                payload -> ServerStreamResponse.newBuilder().setPayload(payload).build());
        stream.define(request.getResponseDefinition());
        return ScriptedPublisher.of(stream.atEnd(), timer);
    }

    @Override
    public CompletionStage<ClientStreamResponse> clientStream(Flow.Publisher<ClientStreamRequest> requests) {
        ConformanceCall call = new ConformanceCall();
        CompletableFuture<List<ClientStreamRequest>> all = new CompletableFuture<>();
        requests.subscribe(new Collector<>(all));
        return all.thenCompose(received -> {
            received.forEach(call::received);
            UnaryResponseDefinition definition = received.isEmpty()
                    ? UnaryResponseDefinition.getDefaultInstance()
                    : received.get(0).getResponseDefinition();
            return answer(
                    call,
                    definition,
                    payload -> ClientStreamResponse.newBuilder()
                            .setPayload(payload)
                            .build());
        });
    }

    @Override
    public Flow.Publisher<BidiStreamResponse> bidiStream(Flow.Publisher<BidiStreamRequest> requests) {
        ConformanceStream<BidiStreamResponse> stream = new ConformanceStream<>(
                new ConformanceCall(),
                payload -> BidiStreamResponse.newBuilder().setPayload(payload).build());
        return new ScriptedPublisher<>(requests, stream, timer);
    }

    private <R> CompletionStage<R> one(
            Message request, UnaryResponseDefinition definition, Function<ConformancePayload, R> response) {
        ConformanceCall call = new ConformanceCall();
        call.received(request);
        return answer(call, definition, response);
    }

    private <R> CompletionStage<R> answer(
            ConformanceCall call, UnaryResponseDefinition definition, Function<ConformancePayload, R> response) {
        call.metadata(definition.getResponseHeadersList(), definition.getResponseTrailersList());
        CompletableFuture<R> answer = new CompletableFuture<>();
        Runnable complete = () -> {
            if (definition.hasError()) {
                answer.completeExceptionally(call.failure(definition.getError(), true));
            } else {
                answer.complete(response.apply(call.everything(definition.getResponseData())));
            }
        };
        if (definition.getResponseDelayMs() == 0) {
            complete.run();
        } else {
            timer.schedule(complete, definition.getResponseDelayMs(), TimeUnit.MILLISECONDS);
        }
        return answer;
    }

    /** Subscribes to a stream and collects all of its messages into a list. */
    private static final class Collector<Q> implements Flow.Subscriber<Q> {

        private final CompletableFuture<List<Q>> all;
        private final List<Q> received = new ArrayList<>();

        private Collector(CompletableFuture<List<Q>> all) {
            this.all = all;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(Q request) {
            received.add(request);
        }

        @Override
        public void onError(Throwable failure) {
            all.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            all.complete(received);
        }
    }
}
