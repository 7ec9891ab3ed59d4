package tern.rpc.waiting;

import org.jspecify.annotations.Nullable;

/**
 * Finds the wait of a thread by its stack. The first classifier that knows it decides; those of the application precede
 * the {@linkplain BuiltInClassifiers built-in ones}. Called rarely, on a thread of the report; must not block.
 */
@FunctionalInterface
public interface StackClassifier {

    /** @return null if it is unknown; {@link Wait#IDLE} for a thread that belongs in no row */
    @Nullable
    Wait classify(ThreadStack thread);
}
