package tern.rpc.transport;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.function.UnaryOperator;
import tern.rpc.ServerContext;
import tern.rpc.StreamObserver;

/** Implements {@link StreamService}. The test sets each method's behaviour. */
class StreamServer implements StreamService {

    volatile Function<String, Flow.Publisher<String>> publish = text -> notSet();
    volatile BiConsumer<String, StreamObserver<byte[]>> observe = (text, answers) -> notSet();
    volatile Function<Flow.Publisher<String>, CompletionStage<Integer>> count = values -> notSet();
    volatile ToIntFunction<Flow.Publisher<String>> countAndWait = values -> StreamServer.<Integer>notSet();
    volatile UnaryOperator<Flow.Publisher<String>> transform = values -> notSet();
    volatile BiConsumer<Flow.Publisher<String>, StreamObserver<String>> transformObserved = (values, out) -> notSet();
    volatile UnaryOperator<StreamObserver<byte[]>> exchange = answers -> notSet();
    volatile UnaryOperator<String> unary = text -> text;

    /** The contexts that the methods received. */
    final BlockingQueue<ServerContext> contexts = new LinkedBlockingQueue<>();

    private static <T> T notSet() {
        throw new IllegalStateException("the test has not said what this method does");
    }

    private void called() {
        ServerContext context = ServerContext.current();
        if (context != null) {
            contexts.add(context);
        }
    }

    @Override
    public Flow.Publisher<String> publish(String text) {
        called();
        return publish.apply(text);
    }

    @Override
    public void observe(String text, StreamObserver<byte[]> answers) {
        called();
        observe.accept(text, answers);
    }

    @Override
    public void observeBriefly(String text, StreamObserver<byte[]> answers) {
        called();
        observe.accept(text, answers);
    }

    @Override
    public CompletionStage<Integer> count(Flow.Publisher<String> values) {
        called();
        return count.apply(values);
    }

    @Override
    public int countAndWait(Flow.Publisher<String> values) {
        called();
        return countAndWait.applyAsInt(values);
    }

    @Override
    public Flow.Publisher<String> transform(Flow.Publisher<String> values) {
        called();
        return transform.apply(values);
    }

    @Override
    public void transformObserved(Flow.Publisher<String> values, StreamObserver<String> answers) {
        called();
        transformObserved.accept(values, answers);
    }

    @Override
    public StreamObserver<byte[]> exchange(StreamObserver<byte[]> answers) {
        called();
        return exchange.apply(answers);
    }

    @Override
    public String unary(String text) {
        called();
        return unary.apply(text);
    }
}
