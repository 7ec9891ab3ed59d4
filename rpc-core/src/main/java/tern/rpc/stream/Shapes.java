package tern.rpc.stream;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tern.rpc.JavaShape;

/** Converts between the types in Java signatures and the publishers and stages that Tern uses. */
public final class Shapes {

    private Shapes() {}

    /** Converts a publisher to the type in the Java signature. */
    public static Object many(JavaShape shape, Flow.Publisher<Object> publisher) {
        return shape == JavaShape.FLUX ? ReactorShapes.flux(publisher) : publisher;
    }

    /** Converts the application's {@code Flow.Publisher} or {@code Flux} to a publisher. */
    @SuppressWarnings("unchecked")
    public static Flow.Publisher<Object> publisher(JavaShape shape, Object given) {
        return shape == JavaShape.FLUX ? ReactorShapes.publisher(given) : (Flow.Publisher<Object>) given;
    }

    /**
     * Converts a result that is completed later to the type in the Java signature.
     *
     * @param call starts a call; called immediately for a stage, and at each subscription for a {@code Mono}
     */
    public static Object later(
            JavaShape shape, Supplier<? extends CompletableFuture<? extends @Nullable Object>> call) {
        return shape == JavaShape.MONO ? ReactorShapes.mono(call) : call.get();
    }

    /** Converts the application's {@code CompletionStage} or {@code Mono} to a stage. */
    public static CompletionStage<?> stage(JavaShape shape, Object given) {
        return shape == JavaShape.MONO ? ReactorShapes.future(given) : (CompletionStage<?>) given;
    }
}
