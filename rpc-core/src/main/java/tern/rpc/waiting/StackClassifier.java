package tern.rpc.waiting;

import org.jspecify.annotations.Nullable;

/**
 * Tells by a thread's stack what it waits for. The first one of a list that knows it decides; those of the application come
 * before the {@linkplain BuiltInClassifiers built-in ones}. Called seldom, on a thread of the report; must not block.
 */
@FunctionalInterface
public interface StackClassifier {

    /** @return null when it does not know; {@link Wait#IDLE} for a thread that belongs into no row */
    @Nullable
    Wait classify(ThreadStack thread);
}
