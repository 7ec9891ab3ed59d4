package tern.rpc.transport;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

/** Streaming methods with every kind of Java signature. The test sets their behaviour. */
public interface StreamService {

    Flow.Publisher<String> publish(String text);

    void observe(String text, StreamObserver<byte[]> answers);

    @RpcMethod(timeout = "150ms")
    void observeBriefly(String text, StreamObserver<byte[]> answers);

    CompletionStage<Integer> count(Flow.Publisher<String> values);

    int countAndWait(Flow.Publisher<String> values);

    Flow.Publisher<String> transform(Flow.Publisher<String> values);

    void transformObserved(Flow.Publisher<String> values, StreamObserver<String> answers);

    StreamObserver<byte[]> exchange(StreamObserver<byte[]> answers);

    String unary(String text);
}
