package tern.rpc.stream;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.JavaShape;

/** Between what stands in Java signatures and what streams are made of. */
public final class Shapes {

    private Shapes() {}

    /** A publisher as a signature wants it. */
    public static Object many(JavaShape shape, Flow.Publisher<Object> publisher) {
        return shape == JavaShape.FLUX ? ReactorShapes.flux(publisher) : publisher;
    }

    /** What a user gave where a signature says {@code Flow.Publisher} or {@code Flux}. */
    @SuppressWarnings("unchecked")
    public static Flow.Publisher<Object> publisher(JavaShape shape, Object given) {
        return shape == JavaShape.FLUX ? ReactorShapes.publisher(given) : (Flow.Publisher<Object>) given;
    }

    /**
     * One value that comes later as a signature wants it.
     *
     * @param call begins a call; asked at once for a stage, and at each subscription for a {@code Mono}
     */
    public static Object later(
            JavaShape shape, Supplier<? extends CompletableFuture<? extends @Nullable Object>> call) {
        return shape == JavaShape.MONO ? ReactorShapes.mono(call) : call.get();
    }

    /** What a user gave where a signature says {@code CompletionStage} or {@code Mono}. */
    public static CompletionStage<?> stage(JavaShape shape, Object given) {
        return shape == JavaShape.MONO ? ReactorShapes.future(given) : (CompletionStage<?>) given;
    }
}
