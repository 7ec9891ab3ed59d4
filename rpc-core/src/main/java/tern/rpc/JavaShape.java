package tern.rpc;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * How a Java signature represents the requests or the answers of a method: as a value, as a value that is completed
 * later, or as a stream.
 */
public enum JavaShape {
    /** The message itself, without a future or a stream around it. */
    VALUE,
    /** A {@link CompletionStage} or {@link CompletableFuture} of the message. */
    STAGE,
    /** Reactor's {@code Mono} of the message. */
    MONO,
    /** A {@link Flow.Publisher} of messages. */
    PUBLISHER,
    /** Reactor's {@code Flux} of messages. */
    FLUX,
    /** A {@link StreamObserver} of messages. */
    OBSERVER;

    private static final String REACTOR = "reactor.core.publisher.";

    static JavaShape of(Class<?> type) {
        if (CompletionStage.class.isAssignableFrom(type)) {
            return STAGE;
        }
        if (type == Flow.Publisher.class) {
            return PUBLISHER;
        }
        if (type == StreamObserver.class) {
            return OBSERVER;
        }
        return switch (type.getName()) { // Reactor is an optional dependency, so its types are compared by name.
            case REACTOR + "Mono" -> MONO;
            case REACTOR + "Flux" -> FLUX;
            default -> VALUE;
        };
    }

    /** Returns whether the Java type represents any number of messages. */
    public boolean isStream() {
        return this == PUBLISHER || this == FLUX || this == OBSERVER;
    }

    /** Returns whether the Java type represents a single message that becomes available later. */
    public boolean isLater() {
        return this == STAGE || this == MONO;
    }

    /**
     * Returns the type of one message, without the future or stream around it.
     *
     * @param position the position of the type in the interface, for error messages
     */
    Type element(Type declared, String position) {
        if (this == VALUE) {
            return declared;
        }
        Class<?> raw = TypeVariables.rawClass(declared);
        if (this == STAGE && raw != CompletionStage.class && raw != CompletableFuture.class) {
            throw new IllegalArgumentException(position + ": " + declared.getTypeName()
                    + " is not supported; write CompletableFuture or CompletionStage");
        }
        if (!(declared instanceof ParameterizedType parameterized)) {
            throw new IllegalArgumentException(position + ": " + raw.getSimpleName()
                    + " has no element type; write, for example, " + raw.getSimpleName() + "<String>");
        }
        return parameterized.getActualTypeArguments()[0];
    }
}
