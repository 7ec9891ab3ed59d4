package tern.rpc.stream;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Mono;

/** Contains all code that uses Reactor. This class is loaded only if a method uses {@code Mono} or {@code Flux}. */
final class ReactorShapes {

    private ReactorShapes() {}

    static Object flux(Flow.Publisher<Object> publisher) {
        return JdkFlowAdapter.flowPublisherToFlux(publisher);
    }

    @SuppressWarnings("unchecked")
    static Flow.Publisher<Object> publisher(Object flux) {
        return JdkFlowAdapter.publisherToFlowPublisher((Publisher<Object>) flux);
    }

    /** Returns a {@code Mono} that makes a call at each subscription. Cancelling the subscription cancels the call. */
    static Object mono(Supplier<? extends CompletableFuture<? extends @Nullable Object>> call) {
        return Mono.fromFuture(call);
    }

    static CompletableFuture<?> future(Object mono) {
        return ((Mono<?>) mono).toFuture();
    }
}
