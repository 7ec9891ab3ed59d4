package tern.rpc;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The result of an asynchronous method that has returned before its result was complete. The call may end earlier than
 * its result arrives, for example at its deadline. Thread-safe.
 */
public final class LaterResult {

    private final Supplier<@Nullable Class<?>> code;
    private volatile boolean complete;

    /** @param code returns the class that contains the method; null if it is unknown */
    public LaterResult(Supplier<@Nullable Class<?>> code) {
        this.code = code;
    }

    /** Records that the result or a failure has arrived, possibly after the end of the call. */
    public void complete() {
        complete = true;
    }

    /** Returns whether the result or a failure has arrived. */
    public boolean isComplete() {
        return complete;
    }

    /** Returns the class that contains the method; null if it is unknown. */
    public @Nullable Class<?> code() {
        return code.get();
    }
}
